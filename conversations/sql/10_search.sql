-- Finding messages by their words (conversations_words), through the indexes alone: to read a
-- table, even a part of it, would split all texts that are read into words. The planner cannot know.
--
-- The account's id is among the words that p_query asks for; the rows are asked for it again.

-- The conversations of an account that have the words in their title, or in one message.
CREATE OR REPLACE FUNCTION conversations_found(p_account uuid, p_query tsquery)
RETURNS TABLE (conversation_id uuid) LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH matching AS MATERIALIZED (
        SELECT m.account_id, m.conversation_id FROM conversations_message m
        WHERE conversations_words(m.account_id, m.content) @@ p_query
    ), titled AS MATERIALIZED (
        SELECT c.account_id, c.id FROM conversations_conversation c
        WHERE conversations_words(c.account_id, c.title) @@ p_query
    )
    SELECT matching.conversation_id FROM matching WHERE matching.account_id = p_account
    UNION
    SELECT titled.id FROM titled WHERE titled.account_id = p_account
$$;

-- Of each of those conversations of an account the newest message that has the words: as much of
-- it as has been split into words.
CREATE OR REPLACE FUNCTION conversations_matches(
    p_account uuid, p_query tsquery, p_conversations uuid[]
) RETURNS TABLE (conversation_id uuid, message_id uuid, content text)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH matching AS MATERIALIZED (
        SELECT m.account_id, m.conversation_id, m.id FROM conversations_message m
        WHERE conversations_words(m.account_id, m.content) @@ p_query
    ), newest AS (
        SELECT DISTINCT ON (matching.conversation_id) matching.id FROM matching
        WHERE matching.account_id = p_account AND matching.conversation_id = ANY (p_conversations)
        ORDER BY matching.conversation_id, matching.id DESC
    )
    SELECT m.conversation_id, m.id, left(m.content, 20000)
    FROM newest JOIN conversations_message m USING (id)
$$;
