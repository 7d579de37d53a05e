import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { focusFirstInvalid } from '../../ui/focus-first-invalid.ts';
import { notify } from '../../ui/notify.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { lengthProblem } from '../../ui/text-problem.ts';
import { Textarea } from '../../ui/textarea.tsx';
import { useConnectX, useDisconnectX, useFinishX, usePostOnX, xQuery } from './api.ts';

const MESSAGE = 'Train and run your own models with me:';
/** What a post has room for beside the link, which counts as 23 characters. */
const MESSAGE_LENGTH_MAX = 256;

const route = getRouteApi('/app/invite');

/** The invitation on X: posted from here where the server can, else from X's own page. */
export function ShareOnX({ code, link }: { code: string; link: string }) {
  const isConnecting = useBackFromX();
  const { data: x, isPending } = useQuery(xQuery(code));
  const connect = useConnectX();
  if (isPending) return <Skeleton className="h-9" />;
  if (x?.postUrl) {
    return (
      <p className="text-[0.8125rem]">
        Your invitation is on X.{' '}
        <a
          href={x.postUrl}
          target="_blank"
          rel="noreferrer noopener"
          className="font-medium text-accent-text underline-offset-4 hover:underline"
        >
          View the post
        </a>
      </p>
    );
  }
  if (x?.status === 'connected') return <PostForm username={x.username ?? ''} />;
  if (x?.status === 'not_connected') {
    return (
      <div className="flex flex-wrap items-center gap-3">
        <Button loading={connect.isPending || isConnecting} onClick={() => connect.mutate()}>
          Connect X
        </Button>
        <p className="text-[0.8125rem] text-muted">Connect your account to post your invitation from here.</p>
      </div>
    );
  }
  const page = `https://x.com/intent/post?${new URLSearchParams({ text: MESSAGE, url: link })}`;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <a href={page} target="_blank" rel="noreferrer noopener" className={buttonClass()}>
        Share on X
        <ExternalLink aria-hidden />
      </a>
      {x && (
        <p className="text-[0.8125rem] text-muted">
          Posting on X is not configured on this server, so X opens in a new tab.
        </p>
      )}
    </div>
  );
}

function PostForm({ username }: { username: string }) {
  const [message, setMessage] = useState(MESSAGE);
  const [tried, setTried] = useState(false);
  const post = usePostOnX();
  const disconnect = useDisconnectX();
  const problem =
    message.trim() === '' ? 'Message is required' : lengthProblem('Message', message, MESSAGE_LENGTH_MAX);
  return (
    <form
      noValidate
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        focusFirstInvalid(event.currentTarget, () => setTried(true));
        if (problem) return;
        post.mutate(message, { onSuccess: () => notify.success('Your invitation was posted on X') });
      }}
    >
      <Field
        label="Post on X"
        help={`Posted as @${username}. Your link is added at the end.`}
        error={tried ? problem : undefined}
      >
        <Textarea rows={2} value={message} onChange={(event) => setMessage(event.target.value)} />
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" loading={post.isPending}>
          Post on X
        </Button>
        <Button variant="ghost" loading={disconnect.isPending} onClick={() => disconnect.mutate()}>
          Disconnect X
        </Button>
      </div>
    </form>
  );
}

/** Finishes the connection that X's page leads back with, once. True while it does. */
function useBackFromX(): boolean {
  const { code, state, error } = route.useSearch();
  const navigate = useNavigate();
  const { mutate, isPending } = useFinishX();
  useEffect(() => {
    if (error === undefined && (code === undefined || state === undefined)) return;
    // The code works once: a reload must not send it again.
    void navigate({ to: '/invite', search: {}, replace: true });
    if (code !== undefined && state !== undefined) mutate({ code, state });
    else
      notify.failure('X was not connected', {
        description: 'You did not allow this server to post for you.',
      });
  }, [code, state, error, navigate, mutate]);
  return isPending;
}
