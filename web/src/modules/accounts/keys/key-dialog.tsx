import type { ApiKey } from '@bakehouse/contract/api-keys';
import { useState } from 'react';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { lastDayProblem } from '../../../ui/last-day-field.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { KeyFields } from './key-fields.tsx';
import { type KeySettings, keyChanges, keyForm, keyProblems } from './key-form.ts';

type Props = {
  /** The key to change; null for a new one. */
  apiKey: ApiKey | null;
  pending: boolean;
  onSubmit: (changes: Partial<KeySettings>) => void;
  onClose: () => void;
};

const FORM_ID = 'api-key';

/** Creates an API key or changes one's settings. */
export function KeyDialog({ apiKey, pending, onSubmit, onClose }: Props) {
  // Keep the initial currency: the typed amount must not change if another tab switches currency.
  const [currency] = useState(() => currencyChoice.get());
  const {
    values: form,
    problems,
    change,
    isDirty,
    onSubmit: submit,
  } = useForm({
    initial: () => keyForm(apiKey, currency),
    problemsOf: (values) => keyProblems(values, apiKey, currency),
    // An expired key keeps its last day, so validate the day only if it was changed.
    problemsOnSubmit: ({ lastDay }, fields, begun) =>
      lastDay === '' || lastDay !== begun.lastDay ? { lastDay: lastDayProblem(fields) } : {},
    onSubmit: (values) => {
      if (!pending) onSubmit(keyChanges(values, apiKey, currency));
    },
  });

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !pending && onClose()}
      // Stay open while creating: the new key is shown only once, after the response.
      keepOpen={pending && apiKey === null}
      dirty={isDirty && !pending}
      title={apiKey ? `Change ${apiKey.name}` : 'Create an API key'}
      description={
        apiKey
          ? 'The key itself stays the same. Changes apply immediately.'
          : 'Revoke it without affecting your other keys.'
      }
      footer={
        <>
          <Button onClick={onClose} disabled={pending}>
            Cancel
          </Button>
          <Button type="submit" form={FORM_ID} variant="primary" loading={pending}>
            {apiKey ? 'Save' : 'Create key'}
          </Button>
        </>
      }
    >
      <form id={FORM_ID} noValidate onSubmit={submit} className="grid gap-4">
        <KeyFields form={form} problems={problems} currency={currency} onChange={change} />
      </form>
    </Dialog>
  );
}
