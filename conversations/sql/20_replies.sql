-- Replies that begin, and end. Callers hold the wallet of who asks, so that nothing else of theirs begins
-- meanwhile. `p_account` is the owner of the conversation.

-- Lock a conversation of the account's, and say what is to be known of it before a reply begins there:
-- to the message p_question, or to one that is yet to be written (NULL), which its client calls
-- p_client_id; that id may be one of ours (p_client_uuid). No row: the account has no such conversation.
--   has_come    a message of that id is there
--   is_running  a reply is being written there
--   is_first    the conversation has no other message; failed replies do not count
CREATE OR REPLACE FUNCTION reply_lock(
    p_account uuid, p_conversation uuid, p_question uuid, p_client_id text, p_client_uuid uuid)
RETURNS TABLE (title text, title_source text, leaf_id uuid, messages_count int, characters int,
               has_come boolean, is_running boolean, is_first boolean)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE c conversations_conversation;
BEGIN
    SELECT * INTO c FROM conversations_conversation
    WHERE id = p_conversation AND account_id = p_account FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    -- A statement of its own, which sees what was committed while this one waited for the lock.
    RETURN QUERY SELECT
        c.title::text, c.title_source::text, c.leaf_id, c.messages_count, c.characters,
        EXISTS (SELECT FROM conversations_message m
                WHERE m.account_id = p_account AND m.client_id = p_client_id
                  AND m.conversation_id = c.id)
        OR EXISTS (SELECT FROM conversations_message m
                   WHERE m.id = p_client_uuid AND m.conversation_id = c.id),
        EXISTS (SELECT FROM conversations_message m
                WHERE m.conversation_id = c.id AND m.status = 'running'),
        NOT EXISTS (SELECT FROM conversations_message m
                    WHERE m.conversation_id = c.id AND m.id IS DISTINCT FROM p_question
                      AND (m.role <> 'assistant' OR m.content <> '' OR m.reasoning <> ''));
END $$;

-- Write messages that come one after the other, of which the last is a reply that begins, and show it:
-- in the conversation that reply_lock has locked. p_author has sent them, NULL for the owner. p_messages is an array of {"id", "parent_id", "role",
-- "content", "client_id", "model", "reasoning_effort", "status", "context"}. Returns their rows.
CREATE OR REPLACE FUNCTION reply_write(
    p_account uuid, p_author uuid, p_conversation uuid, p_title text, p_activity uuid,
    p_characters int, p_messages json)
RETURNS SETOF conversations_message
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    INSERT INTO conversations_message
        (id, conversation_id, account_id, author_id, parent_id, role, content, reasoning, client_id, model,
         reasoning_effort, status, finish_reason, context)
    SELECT (m->>'id')::uuid, p_conversation, p_account, p_author, (m->>'parent_id')::uuid,
           m->>'role', m->>'content', '', m->>'client_id', m->>'model', m->>'reasoning_effort', m->>'status', '',
           (m->'context')::jsonb
    FROM json_array_elements(p_messages) m
    RETURNING *;

    UPDATE conversations_conversation
    SET title = p_title, activity = p_activity, updated_at = statement_timestamp(),
        leaf_id = (p_messages->-1->>'id')::uuid, characters = characters + p_characters,
        messages_count = messages_count + json_array_length(p_messages)
    WHERE id = p_conversation;
END $$;

-- Write the end of a reply, whose conversation is locked. Returns when that was.
CREATE OR REPLACE FUNCTION reply_end(
    p_reply uuid, p_status text, p_content text, p_reasoning text, p_finish_reason text,
    p_error jsonb, p_activity uuid)
RETURNS timestamptz
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    WITH ended AS (
        UPDATE conversations_message
        SET status = p_status, content = p_content, reasoning = p_reasoning,
            finish_reason = p_finish_reason, error = p_error, ended_at = statement_timestamp()
        WHERE id = p_reply
        RETURNING conversation_id, ended_at
    ), moved AS (
        UPDATE conversations_conversation c
        SET characters = characters + char_length(p_content) + char_length(p_reasoning),
            activity = p_activity, updated_at = statement_timestamp()
        FROM ended WHERE c.id = ended.conversation_id
    )
    SELECT ended_at FROM ended
$$;
