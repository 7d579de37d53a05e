import { ACCESS_MESSAGE_LENGTH_MAX } from '@bakehouse/contract/restricted-models';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { lengthProblem } from '../../../ui/text-problem.ts';
import { Textarea } from '../../../ui/textarea.tsx';
import { useRequestAccess } from './restricted-model-calls.ts';

/** Asks an operator for access. */
export function RequestAccessForm({
  modelId,
  label = 'Request access',
}: {
  modelId: string;
  label?: string;
}) {
  const [message, setMessage] = useState('');
  const [tried, setTried] = useState(false);
  const request = useRequestAccess(modelId);
  const problem =
    message.trim() === ''
      ? 'Say what you want to use the model for'
      : lengthProblem('Message', message, ACCESS_MESSAGE_LENGTH_MAX);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setTried(true));
    if (problem || request.isPending) return;
    request.mutate(message);
  }

  return (
    <form noValidate onSubmit={submit} className="grid max-w-xl gap-4">
      <Field
        label="Message"
        help="How you plan to use the model. Operators read this."
        error={tried ? problem : undefined}
      >
        <Textarea value={message} rows={4} onChange={(event) => setMessage(event.target.value)} />
      </Field>
      <Button type="submit" variant="primary" loading={request.isPending} className="w-fit">
        {label}
      </Button>
    </form>
  );
}
