package policies

// A Remark is something about a valid configuration that may not be meant.
type Remark struct {
	Rule string // which kind of remark it is, such as "no-effect": the same however it is worded
	Text string // for people
}

func texts(list []Remark) (words []string) {
	for _, r := range list {
		words = append(words, r.Text)
	}
	return words
}
