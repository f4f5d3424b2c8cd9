#! test: lower
@pi.name("not a name")
def f(größe: pi.INT64) -> pi.INT64:
    größe_2 = größe + 1
    return größe_2
#> ptir 1
#>
#> func @"not a name"(%gr__e: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %gr__e_2 = add %gr__e, %0 : i64[]
#>   return %gr__e_2
#> }
