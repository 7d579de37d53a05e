import { type Resolver, useForm } from 'react-hook-form';
import { ApiError } from '../../lib/api-error.ts';
import { showAmount } from '../../lib/currency.ts';
import { useIdempotencyKeys } from '../../lib/idempotency-key.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { notify } from '../../ui/notify.ts';
import { type Grant, useGrantCredits } from './api.ts';

type Form = { recipient_id: string; amount: string; description: string };

const empty: Form = { recipient_id: '', amount: '', description: '' };

const resolver: Resolver<Form> = async (...form) =>
  (await import('./grant-resolver.ts')).grantResolver(...form);

/** Gives credits to a user by name. A repeat after a lost answer is not granted twice. */
export function GrantForm() {
  const keys = useIdempotencyKeys();
  const grantCredits = useGrantCredits();
  const { register, handleSubmit, reset, setError, formState } = useForm<Form>({
    defaultValues: empty,
    resolver,
  });
  const { errors } = formState;

  async function submit({ recipient_id, amount, description }: Form) {
    const grant: Grant = { recipient_id, amount, ...(description && { description }) };
    try {
      const granted = await grantCredits.mutateAsync({ grant, idempotencyKey: keys.keyFor(grant) });
      keys.renew();
      reset(empty);
      notify.success(`${showAmount(granted.amount, 'BGL')} were granted to ${recipient_id}`);
    } catch (error) {
      const unknown = error instanceof ApiError && error.code === 'not_found';
      if (unknown) setError('recipient_id', { message: error.message }, { shouldFocus: true });
      else notify.error(error);
    }
  }

  return (
    <form noValidate onSubmit={(event) => void handleSubmit(submit)(event)} className="grid gap-4">
      <Field label="Recipient" error={errors.recipient_id?.message} help="Username or email address.">
        <Input autoComplete="off" autoCapitalize="none" spellCheck={false} {...register('recipient_id')} />
      </Field>
      <Field label="Amount" aside="BGL" error={errors.amount?.message}>
        <Input inputMode="decimal" autoComplete="off" {...register('amount')} />
      </Field>
      <Field label="Description" aside="Optional" error={errors.description?.message}>
        <Input maxLength={200} placeholder="Grant" {...register('description')} />
      </Field>
      <Button type="submit" variant="primary" loading={formState.isSubmitting}>
        Grant
      </Button>
    </form>
  );
}
