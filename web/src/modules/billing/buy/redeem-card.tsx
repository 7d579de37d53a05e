import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { showAmount } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { isCodeError, useRedeemCode } from './redeem-calls.ts';

/** Redeems a code for credits. */
export function RedeemCard() {
  const user = useUser();
  const keys = useIdempotencyKeys('code');
  const redeem = useRedeemCode(user.id);
  const refusal = isCodeError(redeem.error) ? redeem.error.message : undefined;
  const { values, problems, change, onSubmit, reset } = useForm({
    initial: () => ({ code: '' }),
    problemsOnSubmit: ({ code }) => ({ code: code.trim() === '' ? 'Enter a code' : undefined }),
    onSubmit: submit,
  });

  function submit({ code }: { code: string }) {
    if (redeem.isPending) return;
    redeem.mutate(
      { code, idempotencyKey: keys.keyFor(code) },
      {
        onSuccess: ({ amount }) => {
          keys.renew(code);
          reset();
          notify.success(`${showAmount(amount)} was added to your balance`);
        },
      },
    );
  }

  return (
    <Card title="Redeem a code" description="The operator of this server may have given you one.">
      <form noValidate onSubmit={onSubmit} className="flex flex-wrap items-start gap-3">
        <Field label="Code" error={problems.code ?? refusal} className="flex-1 basis-60">
          <Input
            value={values.code}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            placeholder="XXXX-XXXX-XXXX-XXXX"
            className="font-mono"
            onChange={(event) => {
              change({ code: event.target.value });
              redeem.reset();
            }}
          />
        </Field>
        <Button type="submit" className="mt-6.5" loading={redeem.isPending}>
          Redeem
        </Button>
      </form>
    </Card>
  );
}
