-- A running judgement never ends now. Its hold is released in full, because its verdicts are deleted. Charges and holds
-- describe themselves, so the transaction history keeps explaining what earlier judgements cost.
update ledger_holds set expires_at = now()
where status = 'pending' and id in (select hold_id from judgements where ended_at is null);

drop table judge_answers;
drop table judgements;
