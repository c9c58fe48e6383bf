// Package requestlog writes the tries of a run as a table that databases read:
// one row for each attempt, and for each one that the caller's own breaker or
// cap refused in its place. Rows come in the order in which the tries ended;
// those that had not ended when the run did come last.
//
// A log is a stream: the memory that it takes does not grow with its rows,
// but for what the footer of a Parquet file tells of each row group.
package requestlog
