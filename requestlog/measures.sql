SELECT count(*) FILTER (WHERE attempt > 1) * 1.0 / count(*) AS retry_ratio,
count(*) FILTER (WHERE attempt > 1 AND status = 'ok') * 1.0
/ nullif(count(*) FILTER (WHERE attempt > 1), 0) AS retry_success_rate,
max(attempt) AS max_attempt,
count(*) FILTER (WHERE circuit_state = 'open') AS breaker_open_cnt
FROM request_log WHERE ts > now() - interval '1 hour';
