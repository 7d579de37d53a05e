import { useState } from 'react';
import { Controller, type Resolver, useForm } from 'react-hook-form';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { showUnrounded } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { isUnknownUser } from './ledger-api.ts';

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
    user: string;
    amount: string;
    description?: string;
    idempotencyKey: string;
  }) => Promise<unknown>;
};

const empty: Form = { user: '', amount: '', description: '' };

/** Books an amount for a user by name, once the operator has confirmed it. A repeat after a lost answer is not booked twice. */
export function BookingForm({ userLabel, defaultDescription, action, tone, ...props }: Props) {
  const { question, consequence, pending, book } = props;
  const keys = useIdempotencyKeys();
  const [asked, setAsked] = useState<Form>();
  const [asking, setAsking] = useState(false);
  const resolver: Resolver<Form> = async (...form) =>
    (await import('./booking-resolver.ts')).bookingResolver(userLabel)(...form);
  const { control, register, handleSubmit, reset, setError, formState } = useForm<Form>({
    defaultValues: empty,
    resolver,
  });
  const { errors } = formState;

  function ask(form: Form) {
    setAsked(form);
    setAsking(true);
  }

  async function submit({ user, amount, description }: Form) {
    const booking = { user, amount, ...(description && { description }) };
    try {
      await book({ ...booking, idempotencyKey: keys.keyFor(booking) });
      keys.renew();
      reset(empty);
    } catch (error) {
      if (isUnknownUser(error)) setError('user', { message: error.message }, { shouldFocus: true });
    } finally {
      setAsking(false);
    }
  }

  return (
    <>
      <form noValidate onSubmit={(event) => void handleSubmit(ask)(event)} className="grid gap-4">
        <Field label={userLabel} error={errors.user?.message} help="Username or email address.">
          <Input autoComplete="off" autoCapitalize="none" spellCheck={false} {...register('user')} />
        </Field>
        <Controller
          control={control}
          name="amount"
          render={({ field: { value, onChange } }) => (
            <AmountField label="Amount" value={value} onChange={onChange} error={errors.amount?.message} />
          )}
        />
        <Field label="Description" aside="Optional" error={errors.description?.message}>
          <Input placeholder={defaultDescription} {...register('description')} />
        </Field>
        <Button type="submit" variant={tone}>
          {action}
        </Button>
      </form>
      {asked && (
        <ConfirmDialog
          open={asking}
          onOpenChange={setAsking}
          title={question(
            `${showUnrounded(asked.amount, 'USD')} (${showUnrounded(asked.amount, 'BGL')})`,
            asked.user,
          )}
          description={consequence}
          action={action}
          tone={tone}
          pending={pending}
          onConfirm={() => void submit(asked)}
        />
      )}
    </>
  );
}
