#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    p = pi.typed(divide(x, 7), pi.TupleType([pi.INT64, pi.INT64]))
    note(x)
    return p[0] + pi.typed(twice(p[1]), pi.INT64)

def divide(x: pi.INT64, y: pi.INT64) -> (pi.INT64, pi.INT64):
    return x / y, x - x / y * y

def twice(x: pi.INT64) -> pi.INT64:
    return x + x

def note(x: pi.INT64):
    pi.op.note(x)
#> ptir 1
#>
#> func @divide(%x: i64[], %y: i64[]) -> (i64[], i64[]) {
#>   %0 = div %x, %y : i64[]
#>   %1 = div %x, %y : i64[]
#>   %2 = mul %1, %y : i64[]
#>   %3 = sub %x, %2 : i64[]
#>   return %0, %3
#> }
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 7 : i64[]
#>   %1, %2 = call @divide %x, %0 {has_side_effect = false} : i64[], i64[]
#>   %p = tuple %1, %2 : tuple<i64[], i64[]>
#>   call @note %x
#>   %3 = get_tuple_element %p {index = 0} : i64[]
#>   %4 = get_tuple_element %p {index = 1} : i64[]
#>   %5 = call @twice %4 {has_side_effect = false} : i64[]
#>   %6 = add %3, %5 : i64[]
#>   return %6
#> }
#>
#> func @note(%x: i64[]) {
#>   custom_call "note" %x
#>   return
#> }
#>
#> func @twice(%x: i64[]) -> i64[] {
#>   %0 = add %x, %x : i64[]
#>   return %0
#> }
