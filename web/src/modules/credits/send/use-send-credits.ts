import { SEND_CONFIRM_BGL } from '@bakehouse/contract/limits';
import { parseBgl } from '@bakehouse/contract/money';
import { useState } from 'react';
import type { IdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { amountInBgl } from '../../../lib/format/typed-amount.ts';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { useBalance } from '../credit-queries.ts';
import { useTransfer } from './send-calls.ts';
import { lackOfCredit, type SendForm, type SendProblems, sendProblems, whyNothing } from './send-form.ts';

/** What the Send Credits sheet knows: its form, whether it asks once more, and the transfer. A repeat after a lost answer is not sent twice. */
export function useSendCredits(recipient: string, keys: IdempotencyKeys, isOpen: boolean) {
  const user = useUser();
  // What was typed keeps its value when the header's currency is switched.
  const [currency] = useState(() => currencyChoice.get());
  const transfer = useTransfer(user.id, keys, isOpen);
  const [asking, setAsking] = useState(false);
  const fields = useForm<SendForm>({
    initial: () => ({ recipient, amount: '' }),
    problemsOnSubmit: problemsNow,
    onSubmit: sendOrAsk,
  });
  const form = fields.values;
  const amount = amountInBgl(form.amount, currency);
  const body = amount === null ? null : { recipient_id: form.recipient.trim(), amount };
  const balance = useBalance(user.id).data;
  // What was sent before, and perhaps arrived, may have been paid from what is missing now: the server knows.
  const isRepeat = body !== null && keys.isRepeat(body);
  const nothing = balance && !isRepeat ? whyNothing(balance) : null;

  function problemsNow(): SendProblems {
    const found = sendProblems(form, currency);
    if (!body || !balance || isRepeat) return found;
    const lack = lackOfCredit(body.amount, balance);
    return lack ? { ...found, amount: lack } : found;
  }

  /** Sends it, or asks first where it is much. */
  function sendOrAsk() {
    if (amount === null || transfer.isPending) return;
    if (parseBgl(amount) > parseBgl(SEND_CONFIRM_BGL)) setAsking(true);
    else send();
  }

  function send() {
    if (body) transfer.mutate(body, { onSettled: () => setAsking(false) });
  }

  return {
    ...fields,
    /** The currency in which it is typed. */
    currency,
    /** In BGL; null where what was typed is no amount. */
    amount,
    /** Why nothing can be sent; null where something can. */
    nothing,
    asking,
    setAsking,
    transfer,
    send,
  };
}
