import { MESSAGE_LENGTH_MAX, SUBJECT_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { requiredProblem } from '../../ui/text-problem.ts';
import { Textarea } from '../../ui/textarea.tsx';
import { useForm } from '../../ui/use-form.ts';
import { useUser } from '../accounts/session.ts';
import { useSendMessage } from './message-calls.ts';

type Props = { open: boolean; onClose: () => void };
type Form = { subject: string; message: string };

const FORM_ID = 'contact-us';
const empty: Form = { subject: '', message: '' };

/** The server's rules for a message. */
const problemsOf = ({ subject, message }: Form) => ({
  subject: requiredProblem('Subject', subject, SUBJECT_LENGTH_MAX),
  message: requiredProblem('Message', message, MESSAGE_LENGTH_MAX),
});

/** Contact Us: a message to the operators. The draft stays until it is sent. */
export function ContactSheet({ open, onClose }: Props) {
  const { id: user_id, email } = useUser();
  const contactUs = useSendMessage();
  const keys = useIdempotencyKeys('message');
  const { values, problems, isDirty, change, onSubmit, reset } = useForm({
    initial: () => empty,
    problemsOf,
    onSubmit: submit,
  });

  const close = () => {
    reset();
    // A pending message is still confirmed, but must not affect the next draft.
    contactUs.reset();
    onClose();
  };
  function submit({ subject, message }: Form) {
    if (contactUs.isPending) return;
    const form = { subject: subject.trim(), message: message.trim() };
    contactUs.mutate(
      { user_id, ...form, idempotencyKey: keys.keyFor(form) },
      {
        onSuccess: () => {
          keys.renew(form);
          close();
        },
      },
    );
  }

  return (
    <Sheet
      open={open}
      onClose={close}
      title="Contact Us"
      description={`Your message goes to the people who run this server. Replies go to ${email}.`}
      dirty={isDirty}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM_ID} loading={contactUs.isPending}>
            Send
          </Button>
        </>
      }
    >
      <form id={FORM_ID} onSubmit={onSubmit} noValidate className="flex flex-col gap-5">
        <Field label="Subject" error={problems.subject}>
          <Input
            autoComplete="off"
            value={values.subject}
            onChange={({ target }) => change({ subject: target.value })}
          />
        </Field>
        <Field label="Message" error={problems.message}>
          <Textarea
            className="min-h-48"
            value={values.message}
            onChange={({ target }) => change({ message: target.value })}
          />
        </Field>
      </form>
    </Sheet>
  );
}
