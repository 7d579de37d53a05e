import type { Account } from '@bakehouse/contract/credits';
import { NOTE_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useState } from 'react';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { currencyChoice, showUnrounded } from '../../../lib/format/currency.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { lengthProblem } from '../../../ui/text-problem.ts';
import { useForm } from '../../../ui/use-form.ts';
import { isUnknownUser, useFindAccount } from './ledger-calls.ts';

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

/**
 * Books an amount for a user after looking up the account and a confirmation. A repeat after a lost response
 * is not booked twice.
 */
export function BookingForm({ userLabel, defaultDescription, action, tone, pending, book, ...props }: Props) {
  const keys = useIdempotencyKeys(`booking.${action}`);
  const find = useFindAccount();
  const [asked, setAsked] = useState<Asked>();
  const [asking, setAsking] = useState(false);
  const { values, problems, change, onSubmit, refuse, reset } = useForm({
    initial: () => empty,
    problemsOf: problemsOf(userLabel),
    onSubmit: (form) => void confirmBooking(trimmed(form)),
  });

  const showUserError = (error: unknown) => {
    if (isUnknownUser(error)) refuse({ user: error.message });
  };

  async function confirmBooking(form: Form) {
    try {
      setAsked({ ...form, account: await find.mutateAsync(form.user) });
      setAsking(true);
    } catch (error) {
      showUserError(error);
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
      showUserError(error);
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
