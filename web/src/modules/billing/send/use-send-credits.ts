import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { IdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { amountInBgl } from '../../../lib/format/typed-amount.ts';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { useBalance } from '../credit-queries.ts';
import { isLookupAllowed, recipientQuery, type Transfer, useTransfer } from './send-calls.ts';
import {
  insufficientCreditProblem,
  type SendForm,
  type SendProblems,
  sendBlockedReason,
  sendProblems,
} from './send-form.ts';

/**
 * State of the Send Credits sheet: form, confirmation and transfer. A repeat after a lost response is not
 * sent twice.
 */
export function useSendCredits(recipient: string, keys: IdempotencyKeys, isOpen: boolean) {
  const user = useUser();
  // The typed amount keeps its value when the header's currency is switched.
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
  // A repeated transfer may already have been paid from the balance, so the server decides.
  const isRepeat = body !== null && keys.isRepeat(body);
  const nothing = balance && !isRepeat ? sendBlockedReason(balance) : null;

  function problemsNow(): SendProblems {
    const found = sendProblems(form, currency);
    if (!body || !balance || isRepeat) return found;
    const lack = insufficientCreditProblem(body.amount, balance);
    return lack ? { ...found, amount: lack } : found;
  }

  /** Asks for confirmation if the recipient exists; a repeat was confirmed before. */
  async function sendOrAsk() {
    if (body === null || transfer.isPending || isLookingUp) return;
    if (isRepeat) return transfer.mutate(body);
    setLookingUp(true);
    const found = isLookupAllowed(body.recipient_id)
      ? await queries.fetchQuery(recipientQuery(user.id, body)).catch(() => null)
      : null;
    setLookingUp(false);
    if (found && !found.recipient) return fields.refuse({ recipient: 'No user has this username or ID' });
    setAsked({ name: found?.recipient?.username ?? body.recipient_id, body });
    setAsking(true);
  }

  /** Sends the confirmed transfer. */
  function send() {
    if (asked) transfer.mutate(asked.body, { onSettled: () => setAsking(false) });
  }

  return {
    ...fields,
    /** The currency of the typed amount. */
    currency,
    /** In BGL; null if the typed amount is invalid. */
    amount,
    /** Why nothing can be sent; null if something can be sent. */
    nothing,
    isLookingUp,
    /** The transfer being confirmed, or the last one. */
    asked,
    asking,
    setAsking,
    transfer,
    send,
  };
}
