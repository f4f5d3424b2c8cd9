#! test: lower
def assigns(x: pi.INT64) -> pi.INT64:
    y = x + 1

def results(x: pi.INT64) -> (pi.INT64, pi.INT64):
    if x:
        pi.yield_(1, 2)
    else:
        pi.yield_(x, x)
    a: pi.INT64 = pi.result(0)
    b: pi.INT64 = pi.result(1)

def returns_nothing(x: pi.INT64):
    y = x + 1

def yields(x: pi.INT64) -> pi.INT64:
    pi.yield_(x + 1)
#> ptir 1
#>
#> func @assigns(%x: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %y = add %x, %0 : i64[]
#>   return %y
#> }
#>
#> func @results(%x: i64[]) -> (i64[], i64[]) {
#>   %0 = constant 1 : i64[]
#>   %1 = constant 2 : i64[]
#>   %2 = cast %x : bool[]
#>   %a, %b = cond %2 () {
#>     yield %0, %1
#>   } () {
#>     yield %x, %x
#>   } : i64[], i64[]
#>   return %a, %b
#> }
#>
#> func @returns_nothing(%x: i64[]) {
#>   %0 = constant 1 : i64[]
#>   %y = add %x, %0 : i64[]
#>   return
#> }
#>
#> func @yields(%x: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %1 = add %x, %0 : i64[]
#>   return %1
#> }
