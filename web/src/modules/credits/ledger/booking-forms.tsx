import type { Account } from '@bakehouse/contract/credits';
import { NOTE_LENGTH_MAX } from '@bakehouse/contract/limits';
import { parseBgl } from '@bakehouse/contract/money';
import { useState } from 'react';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { bglProblem, currencyChoice, showAmount, showUnrounded } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { lengthProblem } from '../../../ui/text-problems.ts';
import { useForm } from '../../../ui/use-form.ts';
import { isUnknownUser, useChargeBack, useFindAccount, useGrantCredits } from './ledger-calls.ts';

const problemsOf =
  (userLabel: string) =>
  ({ user, amount, description }: Form) => ({
    user: user.trim() === '' ? `${userLabel} username cannot be empty` : undefined,
    amount: bglProblem(amount.trim(), currencyChoice.get()),
    description: lengthProblem('Description', description, NOTE_LENGTH_MAX),
  });

const trimmed = ({ user, amount, description }: Form): Form => ({
  user: user.trim(),
  amount: amount.trim(),
  description: description.trim(),
});

/**
 * Books by account id, so that a rename does not matter. A typed address is sent as is, because the server
 * rejects unconfirmed ones.
 */
const handleOf = ({ user, account }: Asked) => (user.includes('@') ? user : account.user_id);

const empty: Form = { user: '', amount: '', description: '' };

/** The amount in BGL. */
type Form = { user: string; amount: string; description: string };

type Props = {
  /** Label of the user's field: 'Recipient'. */
  userLabel: string;
  /** Description used if none is typed. */
  defaultDescription: string;
  /** The verb on its buttons. */
  action: string;
  tone: 'primary' | 'danger';
  /** Returns the confirmation's question; the amount is formatted. */
  question: (amount: string, user: string) => string;
  /** Explains the effect of the booking. */
  consequence: string;
  pending: boolean;
  book: (booking: {
    /** A user id or an address, and the username. */
    user: string;
    username: string;
    amount: string;
    description?: string;
    idempotencyKey: string;
  }) => Promise<unknown>;
};

/** The booking to confirm, with its account. */
type Asked = Form & { account: Account };

/**
 * Books an amount for a user after looking up the account and a confirmation. A repeat after a lost response
 * is not booked twice.
 */
function BookingForm({ userLabel, defaultDescription, action, tone, pending, book, ...props }: Props) {
  const keys = useIdempotencyKeys(`booking.${action}`);
  const find = useFindAccount();
  const [asked, setAsked] = useState<Asked>();
  const [asking, setAsking] = useState(false);
  const { values, problems, change, onSubmit, refuse, reset } = useForm({
    initial: () => empty,
    problemsOf: problemsOf(userLabel),
    onSubmit: (form) => void ask(trimmed(form)),
  });

  const refuseUser = (error: unknown) => {
    if (isUnknownUser(error)) refuse({ user: error.message });
  };

  async function ask(form: Form) {
    try {
      setAsked({ ...form, account: await find.mutateAsync(form.user) });
      setAsking(true);
    } catch (error) {
      refuseUser(error);
    }
  }

  async function submit(wanted: Asked) {
    const { amount, description, account } = wanted;
    const booking = { user: handleOf(wanted), amount, ...(description && { description }) };
    try {
      await book({ ...booking, username: account.username, idempotencyKey: keys.keyFor(booking) });
      keys.renew(booking);
      reset();
    } catch (error) {
      refuseUser(error);
    } finally {
      setAsking(false);
    }
  }

  return (
    <>
      <form noValidate onSubmit={onSubmit} className="grid gap-4">
        <Fields {...{ userLabel, defaultDescription, values, problems, change }} />
        <Button type="submit" variant={tone} loading={find.isPending}>
          {action}
        </Button>
      </form>
      {asked && (
        <Question
          {...props}
          {...{ asked, action, tone, pending }}
          open={asking}
          onOpenChange={setAsking}
          onConfirm={() => void submit(asked)}
        />
      )}
    </>
  );
}

type FieldsProps = Pick<Props, 'userLabel' | 'defaultDescription'> &
  Pick<ReturnType<typeof useForm<Form>>, 'values' | 'problems' | 'change'>;

function Fields({ userLabel, defaultDescription, values, problems, change }: FieldsProps) {
  return (
    <>
      <Field label={userLabel} error={problems.user} help="Username or email address.">
        <Input
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={values.user}
          onChange={({ target }) => change({ user: target.value })}
        />
      </Field>
      <AmountField
        label="Amount"
        value={values.amount}
        onChange={(amount) => change({ amount })}
        error={problems.amount}
      />
      <Field label="Description" aside="Optional" error={problems.description}>
        <Input
          placeholder={defaultDescription}
          value={values.description}
          onChange={({ target }) => change({ description: target.value })}
        />
      </Field>
    </>
  );
}

type QuestionProps = Pick<Props, 'action' | 'tone' | 'question' | 'consequence' | 'pending'> & {
  asked: Asked;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onConfirm: () => void;
};

/** Confirms the amount in both currencies and the account: a mistyped name may belong to another user. */
function Question({ asked: { amount, account }, question, consequence, ...dialog }: QuestionProps) {
  return (
    <ConfirmDialog
      {...dialog}
      title={question(`${showUnrounded(amount, 'USD')} (${showUnrounded(amount, 'BGL')})`, account.username)}
      description={
        <>
          <span className="mb-2 block text-ink">
            {account.name}, {account.email}
          </span>
          {consequence}
        </>
      }
    />
  );
}

/** Books the reversal of a payment by the payer's bank. */
export function ChargebackCard() {
  const chargeBack = useChargeBack();
  return (
    <Card
      title="Charge a payment back"
      description="For a payment reversed outside Stripe. Reversals in Stripe are booked automatically."
    >
      <BookingForm
        userLabel="Payer"
        defaultDescription="Chargeback"
        action="Charge back"
        tone="danger"
        question={(amount, user) => `Charge ${amount} back from ${user}?`}
        consequence="Sendable credits are taken immediately; the rest becomes a debt, collected from future credits. Running work keeps its holds. This cannot be undone."
        pending={chargeBack.isPending}
        book={(booking) =>
          chargeBack.mutateAsync(booking, {
            onSuccess: ({ amount, collected, owed }) =>
              notify.success(`Charged ${showAmount(amount)} back from ${booking.username}`, {
                description: takenAndOwed(collected, owed),
              }),
          })
        }
      />
    </Card>
  );
}

function takenAndOwed(collected: string, owed: string): string {
  if (parseBgl(owed) === 0n) return 'All of it was collected.';
  if (parseBgl(collected) === 0n) return 'Nothing could be collected yet: all of it is owed.';
  return `Collected: ${showAmount(collected)}. Still owed: ${showAmount(owed)}.`;
}

/** Grants credits to a user. */
export function GrantCard() {
  const grant = useGrantCredits();
  return (
    <Card title="Grant credits" description="Gives a user credits from the grants account.">
      <BookingForm
        userLabel="Recipient"
        defaultDescription="Grant"
        action="Grant"
        tone="primary"
        question={(amount, user) => `Grant ${amount} to ${user}?`}
        consequence="The credits can be spent immediately. A grant cannot be undone."
        pending={grant.isPending}
        book={(booking) =>
          grant.mutateAsync(booking, {
            onSuccess: ({ amount }) => notify.success(`Granted ${showAmount(amount)} to ${booking.username}`),
          })
        }
      />
    </Card>
  );
}
