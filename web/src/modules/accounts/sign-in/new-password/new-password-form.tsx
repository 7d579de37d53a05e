import { ApiError } from '../../../../lib/api/api-error.ts';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Field } from '../../../../ui/field.tsx';
import { notify } from '../../../../ui/notify.ts';
import { PasswordInput } from '../../password-input.tsx';
import { isCommonPassword, passwordProblem } from '../check-password.ts';
import { resetPassword } from '../sign-in-calls.ts';
import { useAccountForm } from '../use-account-form.ts';

type Props = {
  /** From the link. */
  token: string;
  onDone: () => Promise<void>;
  /** Called if the link was used before or has expired. */
  onSpent: () => void;
};

/** The target of the link for a new password. */
export function NewPasswordForm({ token, onDone, onSpent }: Props) {
  const { errors, pending, onSubmit } = useAccountForm<string>({
    check: async ({ password = '' }) => {
      const refusal = passwordProblem(password);
      return refusal ? { errors: { password: refusal } } : { values: password };
    },
    submit: async (password) => {
      try {
        await resetPassword(password, token);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'invalid_token') return onSpent();
        throw error;
      }
      notify.success('Your password was changed', {
        description:
          'Sign in with the new one. Your API keys were replaced or revoked, and linked sign-in methods removed.',
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
        help={
          errors.password
            ? undefined
            : 'At least 8 characters. Changing it ends all sessions, revokes all API keys and removes linked sign-in methods.'
        }
      >
        <PasswordInput name="password" autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Change password
      </Button>
    </form>
  );
}
