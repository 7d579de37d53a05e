import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { IdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { amountInBgl } from '../../../lib/format/typed-amount.ts';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { useBalance } from '../credit-queries.ts';
import { canBeLookedUp, recipientQuery, type Transfer, useTransfer } from './send-calls.ts';
import { lackOfCredit, type SendForm, type SendProblems, sendProblems, whyNothing } from './send-form.ts';

/** What the Send Credits sheet knows: its form, whom it asks about before it sends, and the transfer. A repeat after a lost answer is not sent twice. */
export function useSendCredits(recipient: string, keys: IdempotencyKeys, isOpen: boolean) {
  const user = useUser();
  // What was typed keeps its value when the header's currency is switched.
  const [currency] = useState(() => currencyChoice.get());
  const transfer = useTransfer(user.id, keys, isOpen);
  const queries = useQueryClient();
  const [isLookingUp, setLookingUp] = useState(false);
  const [asked, setAsked] = useState<{ name: string; body: Transfer } | null>(null);
  const [asking, setAsking] = useState(false);
  const fields = useForm<SendForm>({
    initial: () => ({ recipient, amount: '' }),
    problemsOnSubmit: problemsNow,
    onSubmit: () => void sendOrAsk(),
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

  /** Asks once, and only where somebody has the name: what is sent again after a lost answer was asked about. */
  async function sendOrAsk() {
    if (body === null || transfer.isPending || isLookingUp) return;
    if (isRepeat) return transfer.mutate(body);
    setLookingUp(true);
    const found = canBeLookedUp(body.recipient_id)
      ? await queries.fetchQuery(recipientQuery(user.id, body)).catch(() => null)
      : null;
    setLookingUp(false);
    if (found && !found.recipient) return fields.refuse({ recipient: 'No user has this username or ID' });
    setAsked({ name: found?.recipient?.username ?? body.recipient_id, body });
    setAsking(true);
  }

  /** Sends what was asked about. */
  function send() {
    if (asked) transfer.mutate(asked.body, { onSettled: () => setAsking(false) });
  }

  return {
    ...fields,
    /** The currency in which it is typed. */
    currency,
    /** In BGL; null where what was typed is no amount. */
    amount,
    /** Why nothing can be sent; null where something can. */
    nothing,
    isLookingUp,
    /** What is or was last asked about. */
    asked,
    asking,
    setAsking,
    transfer,
    send,
  };
}
