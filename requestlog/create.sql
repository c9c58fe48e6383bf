CREATE TABLE request_log (
  ts            timestamptz    NOT NULL,
  request_id    bigint         NOT NULL,
  service       text           NOT NULL,
  attempt       integer        NOT NULL,
  status        text           NOT NULL,
  circuit_state text           NOT NULL,
  latency_ms    numeric(18, 6) NOT NULL,
  caller        text           NOT NULL,
  abandoned     boolean        NOT NULL
);
