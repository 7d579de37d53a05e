import { type Currency, parseBgl } from '@bakehouse/contract/money';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleX, UserCheck } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import type { IdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { amountInBgl, currencyChoice, showBoth } from '../../../lib/format/currency.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { Money } from '../../../ui/money.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { useBalance } from '../credit-queries.ts';
import { canBeLookedUp, recipientQuery, type Transfer, useTransfer } from './send-calls.ts';
import {
  describeSendFailure,
  insufficientCreditProblem,
  type SendForm,
  type SendProblems,
  sendBlockedReason,
  sendLimitReason,
  sendProblems,
} from './send-form.ts';

type SendFieldsProps = {
  /** Id of the form; its submit button is outside. */
  id: string;
  form: SendForm;
  currency: Currency;
  /** The typed amount in BGL; null if invalid. */
  amount: string | null;
  problems: SendProblems;
  nothing: ReturnType<typeof sendBlockedReason>;
  onChange: (changed: Partial<SendForm>) => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
};

/**
 * Recipient and amount, with the resolved user, the amount in the other currency, and the sendable credits.
 */
export function SendFields({
  id,
  form,
  currency,
  amount,
  problems,
  nothing,
  onChange,
  onSubmit,
}: SendFieldsProps) {
  const user = useUser();
  const balance = useBalance(user.id).data;

  return (
    <form id={id} noValidate onSubmit={onSubmit} className="flex flex-col gap-5">
      <Field
        label="Recipient"
        error={problems.recipient}
        help={<Recipient name={form.recipient} amount={amount} />}
      >
        <Input
          value={form.recipient}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => onChange({ recipient: event.target.value })}
        />
      </Field>
      <Field
        label="Amount"
        aside={currency}
        error={problems.amount}
        help={amount === null ? 'With up to two decimals.' : showBoth(amount)}
      >
        <Input
          value={form.amount}
          inputMode="decimal"
          autoComplete="off"
          placeholder="0.00"
          className="tabular-nums"
          onChange={(event) => onChange({ amount: event.target.value })}
        />
      </Field>
      {/* Below the fields, because it loads later. */}
      {nothing && (
        <Callout tone="warn" title="You cannot send any credits now" action={nothing.buy && <GetCredits />}>
          {nothing.reason}
        </Callout>
      )}
      {balance && !nothing && (
        <div className="rounded-lg bg-subtle px-3.5 py-2.5 text-[0.8125rem] text-muted leading-5">
          You can send up to <Money bgl={balance.sendable} className="font-medium text-ink" />.{' '}
          {sendLimitReason(balance)}
          {problems.amount && amount !== null && parseBgl(amount) > parseBgl(balance.available) && (
            <div className="mt-2">
              <GetCredits />
            </div>
          )}
        </div>
      )}
    </form>
  );
}

function GetCredits() {
  return (
    <ButtonLink to="/buy-bagels" size="sm">
      Get credits
    </ButtonLink>
  );
}

/** The resolved user, once name and amount are valid; nothing for an address. */
function Recipient({ name, amount }: { name: string; amount: string | null }) {
  const user = useUser();
  const asked = useDebounced(JSON.stringify({ recipient_id: name.trim(), amount }));
  const { data } = useQuery(
    recipientQuery(user.id, JSON.parse(asked) as { recipient_id: string; amount: string | null }),
  );
  if (!data?.recipient) return 'Username, email address or user ID.';
  return (
    <span className="flex items-center gap-1.5 text-good">
      <UserCheck aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0 break-all">
        {data.recipient.username}
        {data.recipient.user_id === user.id && ' (you)'}
      </span>
    </span>
  );
}

/** The sent amount and its recipient. */
export function TransferSuccessful({ sent }: { sent: { recipient_id: string; amount: string } }) {
  return (
    <div role="status" className="flex flex-col items-center py-8 text-center">
      <span className="mb-4 flex size-12 items-center justify-center rounded-full bg-good-soft text-good">
        <CircleCheck aria-hidden className="size-6" />
      </span>
      <h2 className="font-semibold text-lg">Transfer Successful</h2>
      <p className="mt-3">
        <Money bgl={sent.amount} className="font-semibold text-2xl tracking-tight" />
      </p>
      <p className="mt-1 max-w-full break-words text-muted">
        to <span className="font-medium text-ink">{sent.recipient_id}</span>
      </p>
    </div>
  );
}

/** The reason and the next steps. */
export function TransferFailed({ error }: { error: unknown }) {
  const { title, reason, isUncertain } = describeSendFailure(error);
  const needsCredit = error instanceof ApiError && error.code === 'insufficient_funds';
  return (
    <div role="alert" className="flex flex-col items-center py-8 text-center">
      <span className="mb-4 flex size-12 items-center justify-center rounded-full bg-bad-soft text-bad">
        <CircleX aria-hidden className="size-6" />
      </span>
      <h2 className="font-semibold text-lg">Transfer Failed</h2>
      <p className="mt-2 max-w-sm text-balance text-muted">{title}</p>
      <Callout tone="warn" className="mt-6 w-full text-left">
        {reason}
        {isUncertain && ' If it did go through, trying again won’t send it twice.'}
      </Callout>
      {needsCredit && (
        <ButtonLink to="/buy-bagels" className="mt-4">
          Get credits
        </ButtonLink>
      )}
    </div>
  );
}

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
    const found = canBeLookedUp(body.recipient_id)
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
