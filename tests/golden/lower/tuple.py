#! test: lower
def f(x: pi.INT64, t: pi.TupleType([pi.INT64, pi.TupleType([pi.FP32])])) -> (pi.TupleType([pi.FP32, pi.INT64]), pi.TupleType([])):
    a = t[1][0]
    b = (a, x + t[0])
    return b, ()
#> ptir 1
#>
#> func @f(%x: i64[], %t: tuple<i64[], tuple<f32[]>>) -> (tuple<f32[], i64[]>, tuple<>) {
#>   %0 = get_tuple_element %t {index = 1} : tuple<f32[]>
#>   %a = get_tuple_element %0 {index = 0} : f32[]
#>   %1 = get_tuple_element %t {index = 0} : i64[]
#>   %2 = add %x, %1 : i64[]
#>   %b = tuple %a, %2 : tuple<f32[], i64[]>
#>   %3 = tuple : tuple<>
#>   return %b, %3
#> }
