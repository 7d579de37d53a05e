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
  /** What the user is in it: 'Recipient'. */
  userLabel: string;
  /** What it is called where nothing else is typed. */
  defaultDescription: string;
  /** The verb on its buttons. */
  action: string;
  tone: 'primary' | 'danger';
  /** Asked before it is booked; the amount is in words. */
  question: (amount: string, user: string) => string;
  /** What happens then. */
  consequence: string;
  pending: boolean;
  book: (booking: {
    /** An id or an address, and what the user is called. */
    user: string;
    username: string;
    amount: string;
    description?: string;
    idempotencyKey: string;
  }) => Promise<unknown>;
};

/** What the operator is asked about, and whose account it is. */
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

/** Whose account was shown, whatever it is called by now; nobody gets credits by an address that is not confirmed. */
const handleOf = ({ user, account }: Asked) => (user.includes('@') ? user : account.user_id);

const empty: Form = { user: '', amount: '', description: '' };

/** Books an amount for a user by name, once it is known who that is and the operator has confirmed it. A repeat after a lost answer is not booked twice. */
export function BookingForm({ userLabel, defaultDescription, action, tone, pending, book, ...props }: Props) {
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

/** Says how much, in both currencies, and to whom: a name that is mistyped may be somebody else's. */
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
