import { type Currency, parseBgl } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { UserCheck } from 'lucide-react';
import type { FormEvent } from 'react';
import { showBoth } from '../../../lib/format/currency.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { Money } from '../../../ui/money.tsx';
import { useUser } from '../../accounts/session.ts';
import { useBalance } from '../credit-queries.ts';
import { recipientQuery } from './send-calls.ts';
import { type SendForm, type SendProblems, type sendBlockedReason, sendLimitReason } from './send-form.ts';

type Props = {
  /** Id of the form; its submit button is outside. */
  id: string;
  form: SendForm;
  currency: Currency;
  /** The typed amount in BGL; null if invalid. */
  amount: string | null;
  problems: SendProblems;
  onChange: (changed: Partial<SendForm>) => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
};

/**
 * Recipient and amount, with the resolved user, the amount in the other currency, and the sendable credits.
 */
export function SendFields({ id, form, currency, amount, problems, onChange, onSubmit }: Props) {
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
      {balance && (
        <div className="rounded-lg bg-subtle px-3.5 py-2.5 text-compact text-muted leading-5">
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

/** Shown in place of the form if nothing can be sent. */
export function NothingToSend({ reason, buy }: NonNullable<ReturnType<typeof sendBlockedReason>>) {
  return (
    <Callout tone="warn" title="You cannot send any credits now" action={buy && <GetCredits />}>
      {reason}
    </Callout>
  );
}

/** Not on the page to which it leads. */
function GetCredits() {
  const isThere = useLocation({ select: ({ pathname }) => pathname === '/buy-bagels' });
  if (isThere) return null;
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
