import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { resetPassword } from '../api.ts';
import { isCommonPassword, refusePassword } from './check-password.ts';
import { useAccountForm } from './use-account-form.ts';

/** Where the link for a new password leads; `token` came with it. */
export function NewPasswordForm({ token, onDone }: { token: string; onDone: () => Promise<void> }) {
  const { errors, pending, onSubmit } = useAccountForm<string>({
    check: async ({ password = '' }) => {
      const refusal = refusePassword(password);
      return refusal ? { errors: { password: refusal } } : { values: password };
    },
    submit: async (password) => {
      await resetPassword(password, token);
      notify.success('Your password was changed', {
        description: 'Sign in with the new one. Your API key was replaced too.',
      });
      await onDone();
    },
    fieldOf: (error) => (isCommonPassword(error) ? 'password' : null),
  });
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field
        label="New password"
        error={errors.password}
        help={errors.password ? undefined : 'At least 8 characters.'}
      >
        <Input name="password" type="password" autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Change password
      </Button>
    </form>
  );
}
