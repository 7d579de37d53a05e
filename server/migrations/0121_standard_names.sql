-- What a user sent says nothing of names under its seal: the statement names the other side as the account has it now.
do $$
declare
  v_send text := pg_get_functiondef('ledger_send(text[],text[],bigint[],text[],boolean,bigint)'::regprocedure);
  v_change text[];
begin
  foreach v_change slice 1 in array array[
    [E'  v_descriptions text[];\n', ''],
    [E'    array_agg(format(\'Bagels from %s to %s\', s.username, r.username) order by n),\n', ''],
    ['v_without_account, v_descriptions, v_keys', 'v_without_account, v_keys'],
    ['''transfer'', v_descriptions[i], ''{}''', '''transfer'', ''Bagels'', ''{}'''],
    ['u.id, u.username from users u', 'u.id from users u'],
    [E'  left join users s on s.id = asked.sender\n', '']
  ] loop
    if strpos(v_send, v_change[1]) = 0 then raise exception 'ledger_send describes transfers in another way'; end if;
    v_send := replace(v_send, v_change[1], v_change[2]);
  end loop;
  execute v_send;
end $$;
