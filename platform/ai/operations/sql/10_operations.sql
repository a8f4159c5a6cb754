-- Operations of providers. The job is the lock and the fence of its operation.

-- Save how far an operation has come, for the attempt of its job that has taken the step. With
-- p_seconds the job is scheduled: it continues in so many seconds, or at once where its user has asked
-- meanwhile to cancel it. Returns whether it is saved; if not, the job does not run under this attempt.
--
-- p_operation is an ai.operations.types.Operation.
CREATE OR REPLACE FUNCTION operation_save(
    p_job uuid, p_attempt int, p_operation jsonb, p_seconds float)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE v_signal text; s operations_operation;
BEGIN
    SELECT signal INTO v_signal FROM jobs_job
    WHERE id = p_job AND attempt = p_attempt AND status = 'running' FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    s := jsonb_populate_record(NULL::operations_operation, p_operation);
    UPDATE operations_operation
    SET state = s.state, provider_id = s.provider_id, submitted_at = s.submitted_at,
        is_cancelled = s.is_cancelled, progress = s.progress, failures = s.failures,
        unknowns = s.unknowns, result = nullif(s.result, 'null')
    WHERE job_id = p_job;
    IF p_seconds IS NOT NULL THEN
        PERFORM job_schedule(p_job, p_attempt, CASE
            WHEN v_signal = 'cancel' AND NOT s.is_cancelled THEN 0 ELSE p_seconds END);
    END IF;
    RETURN true;
END $$;
