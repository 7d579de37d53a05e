import { useQuery } from '@tanstack/react-query';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { signInMethodsQuery } from '../sign-in/sign-in-calls.ts';
import { sendConfirmation } from './profile-calls.ts';

/** Requests the link that confirms an address; renders nothing if the server sends no mail. */
export function ConfirmAddress({ email }: { email: string }) {
  const { data } = useQuery(signInMethodsQuery);
  const send = useMutation({
    mutationFn: () => sendConfirmation(email),
    meta: { title: 'The link could not be sent' },
  });
  if (!data?.sends_mail) return null;
  if (send.isSuccess) return <span role="status">A link is on its way. Open it in this browser.</span>;
  return (
    <span className="flex flex-wrap items-center gap-2">
      Not confirmed yet.
      <Button size="sm" loading={send.isPending} onClick={() => send.mutate()}>
        Send a link
      </Button>
    </span>
  );
}
