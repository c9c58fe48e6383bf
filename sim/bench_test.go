package sim
import ("testing";"time")
var sink uint64; var fsink float64; var tsink time.Time; var dsink time.Duration
func BenchmarkRand(b *testing.B){
 b.Run("Uint64",func(b *testing.B){r:=Stream(1,2,"x"); var s uint64; for b.Loop(){s+=r.Uint64()}; sink=s})
 b.Run("Exp",func(b *testing.B){r:=Stream(1,2,"x"); var s float64; for range b.N{s+=r.ExpFloat64()}; fsink=s})
 b.Run("Norm",func(b *testing.B){r:=Stream(1,2,"x"); var s float64; for range b.N{s+=r.NormFloat64()}; fsink=s})
}
func BenchmarkDraws(b *testing.B){
 b.Run("Uint64",func(b *testing.B){d:=NewDraws(1,2,"x"); var s uint64; for i:= range b.N{s+=d.Uint64(uint64(i),1)}; sink=s})
 b.Run("Rand",func(b *testing.B){d:=NewDraws(1,2,"x"); var s uint64; for i:= range b.N{r:=d.Rand(uint64(i),1); s+=r.Uint64()}; sink=s})
 b.Run("Stream",func(b *testing.B){var s uint64; for i:= range b.N{r:=Stream(uint64(i),1,"arrivals/edge"); s+=r.Uint64()}; sink=s})
}
func BenchmarkClock(b *testing.B){
 c:=New().Clock(); 
 b.Run("Now",func(b *testing.B){var s time.Time; for range b.N{s=c.Now()}; tsink=s})
 b.Run("Since",func(b *testing.B){t:=c.Now();var s time.Duration; for range b.N{s+=c.Since(t)}; dsink=s})
 b.Run("AfterFunc",func(b *testing.B){e:=New();c:=e.Clock(); f:=func(){}; for range b.N{c.AfterFunc(1,f);e.Run()}})
}
