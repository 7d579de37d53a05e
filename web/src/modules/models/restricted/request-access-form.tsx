import { ACCESS_MESSAGE_LENGTH_MAX } from '@bakehouse/contract/restricted-models';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { lengthProblem } from '../../../ui/text-problem.ts';
import { Textarea } from '../../../ui/textarea.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { useRequestAccess } from './restricted-model-calls.ts';

/** Asks an operator for access. */
export function RequestAccessForm({
  modelId,
  label = 'Request access',
}: {
  modelId: string;
  label?: string;
}) {
  const request = useRequestAccess(modelId);
  const { values, problems, change, onSubmit } = useForm({
    initial: () => ({ message: '' }),
    problemsOf: ({ message }) => ({
      message:
        message.trim() === ''
          ? 'Describe how you plan to use the model'
          : lengthProblem('Message', message, ACCESS_MESSAGE_LENGTH_MAX),
    }),
    onSubmit: ({ message }) => !request.isPending && request.mutate(message),
  });
  return (
    <form noValidate onSubmit={onSubmit} className="grid max-w-xl gap-4">
      <Field
        label="Message"
        help="How you plan to use the model. Operators read this."
        error={problems.message}
      >
        <Textarea
          value={values.message}
          rows={4}
          onChange={(event) => change({ message: event.target.value })}
        />
      </Field>
      <Button type="submit" variant="primary" loading={request.isPending} className="w-fit">
        {label}
      </Button>
    </form>
  );
}
