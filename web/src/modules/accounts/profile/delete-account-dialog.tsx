import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { parseBgl } from '@bakehouse/contract/money';
import type { previewDeletion } from '@bakehouse/contract/privacy';
import { useQuery } from '@tanstack/react-query';
import { countOf } from '../../../lib/format/count-of.ts';
import { showAmount } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { FormRejection } from '../../../ui/form-rejection.tsx';
import { Input } from '../../../ui/input.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { type DeletionBody, deletionQuery, useDeleteAccount } from './profile-calls.ts';

type Deletion = ResponseOf<typeof previewDeletion>;

const FORM_ID = 'delete-account';

/** Lists what is deleted with the account, and asks for the password. */
export function DeleteAccountDialog({ onClose }: { onClose: () => void }) {
  const deletion = useQuery(deletionQuery);
  const remove = useDeleteAccount();
  const owes = deletion.data !== undefined && parseBgl(deletion.data.owed) > 0n;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !remove.isPending && onClose()}
      title="Delete your account?"
      description="You will no longer be able to sign in, and the account cannot be restored."
      footer={
        <>
          <Button onClick={onClose} disabled={remove.isPending}>
            Cancel
          </Button>
          <Button
            variant="danger"
            type="submit"
            form={FORM_ID}
            disabled={!deletion.data || owes}
            loading={remove.isPending}
          >
            Delete account
          </Button>
        </>
      }
    >
      <QueryView
        query={deletion}
        failed="What is deleted with your account could not be loaded"
        pending={
          <LoadingRegion className="grid gap-3">
            <Skeleton className="h-16" />
            <Skeleton className="h-15" />
          </LoadingRegion>
        }
        compact
      >
        {(data) => (
          <DeleteForm
            deletion={data}
            owes={owes}
            error={remove.error}
            onDelete={(body) => {
              if (!remove.isPending) remove.mutate(body);
            }}
          />
        )}
      </QueryView>
    </Dialog>
  );
}

type DeletionForm = {
  password: string;
  /** The credits that the user agreed to forfeit; if the amount changes, the user must agree again. */
  givenUp: string | null;
};

type FormProps = {
  deletion: Deletion;
  owes: boolean;
  error: unknown;
  onDelete: (body: DeletionBody) => void;
};

function DeleteForm({ deletion, owes, error, onDelete }: FormProps) {
  const { asks_password: asksPassword, bought } = deletion;
  const hasSendable = parseBgl(bought) > 0n;
  const { values, problems, change, onSubmit } = useForm<DeletionForm>({
    initial: () => ({ password: '', givenUp: null }),
    problemsOf: ({ password, givenUp }) => ({
      password: asksPassword && password === '' ? 'Enter your password' : undefined,
      givenUp: hasSendable && givenUp !== bought ? 'Send them to someone first, or forfeit them' : undefined,
    }),
    onSubmit: ({ password }) =>
      onDelete({ ...(asksPassword && { password }), ...(hasSendable && { give_up_max: bought }) }),
  });

  return (
    <form id={FORM_ID} noValidate onSubmit={onSubmit} className="grid gap-4">
      {error !== null && <FormRejection error={error} />}
      <ul className="list-disc space-y-1 pl-5 marker:text-faint">
        {whatGoes(deletion).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {owes && (
        <Callout tone="warn">You owe {inWords(deletion.owed)}. Get credits to settle it first.</Callout>
      )}
      {hasSendable && (
        <Field label="Credits that can be sent" error={problems.givenUp}>
          <Checkbox
            checked={values.givenUp === bought}
            onChange={(checked) => change({ givenUp: checked ? bought : null })}
            label={`Forfeit ${inWords(bought)} in credits`}
          />
        </Field>
      )}
      {asksPassword && (
        <Field label="Password" error={problems.password}>
          <Input
            type="password"
            autoComplete="current-password"
            value={values.password}
            onChange={(event) => change({ password: event.target.value })}
          />
        </Field>
      )}
    </form>
  );
}

/** Returns a sentence for each deleted or kept item. */
function whatGoes({ datasets, models, running, given }: Deletion): string[] {
  const assets = [
    ...(datasets > 0 ? [countOf(datasets, 'dataset')] : []),
    ...(models > 0 ? [countOf(models, 'model')] : []),
  ];
  return [
    ...(assets.length > 0 ? [`${assets.join(' and ')} will be deleted, files included.`] : []),
    ...(running > 0
      ? [`${countOf(running, 'running job')} will be stopped; usage until then is charged.`]
      : []),
    ...(parseBgl(given) > 0n
      ? [`You will lose ${inWords(given)} of promotional credits, which cannot be sent.`]
      : []),
    'Your name, email address, picture, sessions and API keys will be removed. Transfers stay in the ledger; other people see ‘a deleted user’ instead of your name.',
  ];
}

const inWords = (bgl: string) => `${showAmount(bgl, 'BGL')} (${showAmount(bgl, 'USD')})`;
