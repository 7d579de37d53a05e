import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getXAuthStatus } from '@bakehouse/contract/referrals';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { useEffect } from 'react';
import { cx } from '../../lib/cx.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { notify } from '../../ui/notify.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { requiredProblem } from '../../ui/text-problem.ts';
import { Textarea } from '../../ui/textarea.tsx';
import { useForm } from '../../ui/use-form.ts';
import { useConnectX, useDisconnectX, useFinishX, usePostOnX, xQuery } from './referral-calls.ts';

const MESSAGE = 'Train and run your own models with me:';
/** Maximum text length besides the link, which counts as 23 characters. */
const MESSAGE_LENGTH_MAX = 256;

const route = getRouteApi('/app/invite');

/** Shares the invitation on X: posted by the server if possible, else through X's page. */
export function ShareOnX({ code, link }: { code: string; link: string }) {
  const isConnecting = useBackFromX();
  const x = useQuery(xQuery(code));
  return (
    <div className="grid gap-3">
      <QueryView
        query={x}
        failed="Your X account could not be loaded"
        pending={<Skeleton className="h-9" />}
        compact
      >
        {(account) => <Share account={account} isConnecting={isConnecting} link={link} />}
      </QueryView>
      {/* X's page doesn't need the server's response. */}
      {x.isLoadingError && <ShareLink link={link} />}
    </div>
  );
}

type Account = {
  status: ResponseOf<typeof getXAuthStatus>['status'];
  username: string | null;
  postUrl: string | null;
};
type ShareProps = { account: Account; isConnecting: boolean; link: string };

function Share({ account: { status, username, postUrl }, isConnecting, link }: ShareProps) {
  const connect = useConnectX();
  if (postUrl) {
    return (
      <p className="text-compact">
        Your invitation is on X.{' '}
        <a
          href={postUrl}
          target="_blank"
          rel="noreferrer noopener"
          className="font-medium text-accent-text underline-offset-4 hover:underline"
        >
          View the post
        </a>
      </p>
    );
  }
  if (status === 'connected') return <PostForm username={username ?? ''} />;
  if (status === 'not_connected') {
    return (
      <div className="flex flex-wrap items-center gap-3">
        <Button
          loading={connect.isPending || isConnecting}
          // Not called if the user has left the page.
          onClick={() => connect.mutate(undefined, { onSuccess: ({ url }) => location.assign(url) })}
        >
          Connect X
        </Button>
        <p className="text-compact text-muted">Connect your account to post your invitation from here.</p>
      </div>
    );
  }
  return <ShareLink link={link} />;
}

function ShareLink({ link }: { link: string }) {
  const page = `https://x.com/intent/post?${new URLSearchParams({ text: MESSAGE, url: link })}`;
  return (
    <a
      href={page}
      target="_blank"
      rel="noreferrer noopener"
      className={cx(buttonClass(), 'justify-self-start')}
    >
      Share on X
      <ExternalLink aria-hidden />
    </a>
  );
}

function PostForm({ username }: { username: string }) {
  const post = usePostOnX();
  const disconnect = useDisconnectX();
  const { values, problems, change, onSubmit } = useForm({
    initial: () => ({ message: MESSAGE }),
    problemsOf: ({ message }) => ({ message: requiredProblem('Message', message, MESSAGE_LENGTH_MAX) }),
    onSubmit: ({ message }) =>
      post.mutate(message, { onSuccess: () => notify.success('Your invitation was posted on X') }),
  });
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-3">
      <Field
        label="Post on X"
        help={`Posted as @${username}. Your link is added at the end.`}
        error={problems.message}
      >
        <Textarea
          rows={2}
          value={values.message}
          onChange={({ target }) => change({ message: target.value })}
        />
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

/** Completes the connection after X's redirect, once. Returns true while in progress. */
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
