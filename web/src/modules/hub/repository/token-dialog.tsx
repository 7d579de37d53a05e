import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { useDeleteToken, useHubToken, useSaveToken } from './hub-calls.ts';

const FORM_ID = 'hub-token';

/** Saves or deletes the user's access token for the public hub. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const kept = useHubToken().data?.token ?? null;
  const save = useSaveToken();
  const deletion = useDeleteToken();
  const { values, problems, change, isDirty, onSubmit, refuse } = useForm({
    initial: () => ({ token: '' }),
    problemsOf: ({ token }) => (token.trim() === '' ? { token: 'Enter an access token' } : {}),
    onSubmit: ({ token }) =>
      save.mutate(token.trim(), {
        onSuccess: onClose,
        onError: (error) => refuse({ token: errorMessage(error) }),
      }),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      dirty={isDirty && !save.isPending}
      title="Access token"
      description="For gated repositories: a read token from your hub settings. It is stored encrypted and never shown again."
      footer={
        <>
          {kept && (
            <Button
              className="mr-auto"
              loading={deletion.isPending}
              onClick={() => deletion.mutate(undefined, { onSuccess: onClose })}
            >
              Delete token
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={FORM_ID} variant="primary" loading={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form id={FORM_ID} noValidate onSubmit={onSubmit} className="grid gap-4">
        {kept && (
          <p>
            A token of <strong className="font-medium">{kept.account}</strong> is saved,{' '}
            <RelativeTime at={kept.saved_at} inSentence />. A new one replaces it.
          </p>
        )}
        <Field label="Token" error={problems.token}>
          <Input
            type="password"
            value={values.token}
            autoComplete="off"
            spellCheck={false}
            placeholder="hf_…"
            onChange={({ target }) => change({ token: target.value })}
          />
        </Field>
      </form>
    </Dialog>
  );
}
