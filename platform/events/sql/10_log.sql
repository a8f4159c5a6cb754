-- Write events to the end of a stream, within the caller's transaction. p_events is an array of
-- {"type", "actor", "data"}; `data` is kept as it is written there. Returns the last number given.
--
-- The head's row lock is held until the commit: whoever reads number n finds all below it.
CREATE OR REPLACE FUNCTION event_append(p_stream uuid, p_events json) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
DECLARE v_last bigint; v_at timestamptz;
BEGIN
    UPDATE events_stream SET last_seq = last_seq + json_array_length(p_events)
    WHERE id = p_stream RETURNING last_seq INTO v_last;
    IF NOT FOUND THEN RAISE EXCEPTION 'There is no stream %.', p_stream; END IF;
    v_at := clock_timestamp();
    INSERT INTO events_event (stream_id, seq, type, actor, created_at, data)
    SELECT p_stream, v_last - json_array_length(p_events) + e.n,
           e.body->>'type', e.body->>'actor', v_at, (e.body->'data')::text
    FROM json_array_elements(p_events) WITH ORDINALITY AS e(body, n);
    RETURN v_last;
END $$;

-- The events of a stream after a number, as they are delivered: at most p_limit of them, and at
-- most p_bytes of text, but at least one. The one place that says what an event looks like.
CREATE OR REPLACE FUNCTION events_after(p_stream uuid, p_after bigint, p_limit int, p_bytes int)
RETURNS TABLE (seq bigint, frame text) LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT page.seq, page.frame
    FROM (SELECT f.seq, f.frame, row_number() OVER w AS place,
                 sum(octet_length(f.frame)) OVER w AS bytes
          FROM (SELECT e.seq,
                       '{"seq":' || e.seq || ',"type":"' || e.type
                       || '","session_id":"' || e.stream_id || '","created_at":"'
                       || to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                       || '","actor":' || to_json(e.actor) || ',"data":' || e.data || '}' AS frame
                FROM events_event e
                WHERE e.stream_id = p_stream AND e.seq > p_after
                ORDER BY e.seq LIMIT p_limit) f
          WINDOW w AS (ORDER BY f.seq)) page
    WHERE page.place = 1 OR page.bytes <= p_bytes
    ORDER BY page.seq
$$;
