// Package requestlog writes the tries of a run as a table that databases read:
// one row for each attempt, and for each one that the caller's own breaker or
// cap refused in its place. Rows come in the order in which the tries ended;
// those that had not ended when the run did come last.
//
// A log is a stream: what is kept in memory does not grow with the rows of a
// CSV file, and for Parquet by some bytes in 10,000 rows only, which its
// footer tells at the end.
package requestlog
