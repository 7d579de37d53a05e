import { useState } from 'react';
import { type Resolver, useForm } from 'react-hook-form';
import { showAmount } from '../../lib/currency.ts';
import { useIdempotencyKeys } from '../../lib/idempotency-key.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { notify } from '../../ui/notify.ts';
import { type Grant, isUnknownRecipient, useGrantCredits } from './api.ts';

type Form = { recipient_id: string; amount: string; description: string };

const empty: Form = { recipient_id: '', amount: '', description: '' };

const resolver: Resolver<Form> = async (...form) =>
  (await import('./grant-resolver.ts')).grantResolver(...form);

/** Gives credits to a user by name, once the operator has confirmed whom and how much. A repeat after a lost answer is not granted twice. */
export function GrantForm() {
  const keys = useIdempotencyKeys();
  const grantCredits = useGrantCredits();
  const [asked, setAsked] = useState<Form>();
  const [asking, setAsking] = useState(false);
  const { register, handleSubmit, reset, setError, formState } = useForm<Form>({
    defaultValues: empty,
    resolver,
  });
  const { errors } = formState;

  function ask(form: Form) {
    setAsked(form);
    setAsking(true);
  }

  async function submit({ recipient_id, amount, description }: Form) {
    const grant: Grant = { recipient_id, amount, ...(description && { description }) };
    try {
      const granted = await grantCredits.mutateAsync({ grant, idempotencyKey: keys.keyFor(grant) });
      keys.renew();
      reset(empty);
      notify.success(`${showAmount(granted.amount, 'BGL')} were granted to ${recipient_id}`);
    } catch (error) {
      if (isUnknownRecipient(error))
        setError('recipient_id', { message: error.message }, { shouldFocus: true });
    } finally {
      setAsking(false);
    }
  }

  return (
    <>
      <form noValidate onSubmit={(event) => void handleSubmit(ask)(event)} className="grid gap-4">
        <Field label="Recipient" error={errors.recipient_id?.message} help="Username or email address.">
          <Input autoComplete="off" autoCapitalize="none" spellCheck={false} {...register('recipient_id')} />
        </Field>
        <Field label="Amount" aside="BGL" error={errors.amount?.message}>
          <Input inputMode="decimal" autoComplete="off" {...register('amount')} />
        </Field>
        <Field label="Description" aside="Optional" error={errors.description?.message}>
          <Input maxLength={200} placeholder="Grant" {...register('description')} />
        </Field>
        <Button type="submit" variant="primary">
          Grant
        </Button>
      </form>
      {asked && (
        <ConfirmDialog
          open={asking}
          onOpenChange={setAsking}
          title={`Grant ${showAmount(asked.amount, 'BGL')} (${showAmount(asked.amount, 'USD')}) to ${asked.recipient_id}?`}
          description="The credits can be spent at once. A grant cannot be taken back."
          action="Grant"
          tone="primary"
          pending={grantCredits.isPending}
          onConfirm={() => void submit(asked)}
        />
      )}
    </>
  );
}
