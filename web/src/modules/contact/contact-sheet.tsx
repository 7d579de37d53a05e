import { type Resolver, useForm } from 'react-hook-form';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import { useUser } from '../accounts/session.ts';
import { useContactUs } from './message-calls.ts';

type Props = { open: boolean; onClose: () => void };
type Form = { subject: string; message: string };

const FORM_ID = 'contact-us';
const empty: Form = { subject: '', message: '' };

const resolver: Resolver<Form> = async (...form) =>
  (await import('./contact-resolver.ts')).contactResolver(...form);

/** Contact Us: a message to the operators. What was typed stays until it is sent. */
export function ContactSheet({ open, onClose }: Props) {
  const { id: user_id, email } = useUser();
  const contactUs = useContactUs();
  const keys = useIdempotencyKeys('message');
  const { register, handleSubmit, reset, formState } = useForm<Form>({ resolver, defaultValues: empty });
  const { errors, isDirty } = formState;

  const close = () => {
    reset(empty);
    // What is still being sent says so when it has arrived, and touches no message that is written by then.
    contactUs.reset();
    onClose();
  };
  const submit = handleSubmit((form) => {
    if (contactUs.isPending) return;
    contactUs.mutate(
      { user_id, ...form, idempotencyKey: keys.keyFor(form) },
      {
        onSuccess: () => {
          keys.renew(form);
          close();
        },
      },
    );
  });

  return (
    <Sheet
      open={open}
      onClose={close}
      title="Contact Us"
      description={`Your message goes to the people who run this server. Answers go to ${email}.`}
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
      <form id={FORM_ID} onSubmit={(event) => void submit(event)} noValidate className="flex flex-col gap-5">
        <Field label="Subject" error={errors.subject?.message}>
          <Input autoComplete="off" {...register('subject')} />
        </Field>
        <Field label="Message" error={errors.message?.message}>
          <Textarea className="min-h-48" {...register('message')} />
        </Field>
      </form>
    </Sheet>
  );
}
