#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    (s0 := pi.typed(pure(x + 1 + 2 + 3 + 4 + 5), pi.INT64))
    (s1 := pi.typed(pi.op.next(x + 1 + 2 + 3 + 4 + 5), pi.INT64))
    return s0 + s0 + (s1 + s1)

def pure(x: pi.INT64) -> pi.INT64:
    return x
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %1 = constant 2 : i64[]
#>   %2 = constant 3 : i64[]
#>   %3 = constant 4 : i64[]
#>   %4 = constant 5 : i64[]
#>   %5 = add %x, %0 : i64[]
#>   %6 = add %5, %1 : i64[]
#>   %7 = add %6, %2 : i64[]
#>   %8 = add %7, %3 : i64[]
#>   %9 = add %8, %4 : i64[]
#>   %10 = call @pure %9 {has_side_effect = false} : i64[]
#>   %11 = add %10, %10 : i64[]
#>   %12 = add %x, %0 : i64[]
#>   %13 = add %12, %1 : i64[]
#>   %14 = add %13, %2 : i64[]
#>   %15 = add %14, %3 : i64[]
#>   %16 = add %15, %4 : i64[]
#>   %17 = custom_call "next" %16 : i64[]
#>   %18 = add %x, %0 : i64[]
#>   %19 = add %18, %1 : i64[]
#>   %20 = add %19, %2 : i64[]
#>   %21 = add %20, %3 : i64[]
#>   %22 = add %21, %4 : i64[]
#>   %23 = custom_call "next" %22 : i64[]
#>   %24 = add %17, %23 : i64[]
#>   %25 = add %11, %24 : i64[]
#>   return %25
#> }
#>
#> func @pure(%x: i64[]) -> i64[] {
#>   return %x
#> }
