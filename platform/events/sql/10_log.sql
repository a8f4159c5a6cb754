-- Write events to the end of a stream, within the caller's transaction. p_events is an array of
-- {"type", "actor", "data"}; `data` is kept as it is written there. Returns the last number given.
--
-- The head's row lock is held until the commit: a reader of number n finds all below it.
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

-- Replace the row that the events of a deleted resource have brought to a stream since p_since, within
-- the caller's transaction: `p_resource.verb` with {p_resource: row}. They keep their numbers, and the
-- rows of other resources that name this one stay. Reads the events of that stream, and no other.
CREATE OR REPLACE FUNCTION events_blank(
    p_stream uuid, p_resource text, p_id uuid, p_since timestamptz, p_row json) RETURNS void
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
DECLARE v_purged bigint;
BEGIN
    SELECT purged_seq INTO v_purged FROM events_stream WHERE id = p_stream FOR NO KEY UPDATE;
    UPDATE events_event e SET data = json_build_object(p_resource, p_row)::text
    WHERE e.stream_id = p_stream AND e.seq > v_purged AND e.created_at >= p_since
      AND starts_with(e.type, p_resource || '.') AND position(p_id::text IN e.data) > 0
      AND e.data::json -> p_resource ->> 'id' = p_id::text;
END $$;

-- The events of a stream after a number, as they are delivered: at most p_limit of them, and at
-- most p_bytes of text, but at least one. Only this function knows the format of an event.
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

-- Users' streams that have events older than p_days, or more of them than p_kept. The first event that
-- is kept is looked up in each of them, and no other.
CREATE OR REPLACE FUNCTION overfull_streams(p_days int, p_kept bigint, p_limit int)
RETURNS SETOF uuid LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT s.id FROM events_stream s
    CROSS JOIN LATERAL (
        SELECT e.created_at FROM events_event e
        WHERE e.stream_id = s.id AND e.seq > s.purged_seq ORDER BY e.seq LIMIT 1) oldest
    WHERE s.kind = 'user' AND s.last_seq > s.purged_seq
      AND (oldest.created_at < clock_timestamp() - make_interval(days => p_days)
           OR s.last_seq - s.purged_seq > p_kept)
    ORDER BY s.id LIMIT p_limit
$$;

-- Delete the events of a stream that are older than p_days, and all but the newest p_kept. Returns how
-- many. `purged_seq` says so to those who ask for them, in the same transaction.
CREATE OR REPLACE FUNCTION purge_stream(p_stream uuid, p_days int, p_kept bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
DECLARE v_head events_stream; v_until bigint; v_deleted bigint;
BEGIN
    SELECT * INTO v_head FROM events_stream WHERE id = p_stream FOR NO KEY UPDATE;
    SELECT greatest(v_head.last_seq - p_kept, v_head.purged_seq, max(e.seq)) INTO v_until
    FROM events_event e
    WHERE e.stream_id = p_stream AND e.seq > v_head.purged_seq
      AND e.created_at < clock_timestamp() - make_interval(days => p_days);
    UPDATE events_stream SET purged_seq = v_until WHERE id = p_stream AND purged_seq < v_until;
    DELETE FROM events_event WHERE stream_id = p_stream AND seq <= v_until;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END $$;
