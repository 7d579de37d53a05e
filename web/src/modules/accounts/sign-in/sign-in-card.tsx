import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { getCredentials } from '../../../lib/api/credentials.ts';
import { usePageTitle } from '../../../lib/page-title.ts';
import { onSessionMessage, type SessionMessage } from '../../../lib/session/session-channel.ts';
import { Callout } from '../../../ui/callout.tsx';
import { keyLostQuery, refreshSession, useSessionUser } from '../session.ts';
import { Invitation } from './invitation.tsx';
import { KeyLostForm } from './key-lost-form.tsx';
import { ForgotPasswordForm } from './new-password/forgot-password-form.tsx';
import { NewPasswordForm } from './new-password/new-password-form.tsx';
import { ProviderButtons } from './provider-buttons.tsx';
import { providerProblem } from './provider-problem.ts';
import { signInMethodsQuery } from './sign-in-calls.ts';
import { SignInForm } from './sign-in-form.tsx';
import { SignUpForm } from './sign-up-form.tsx';

const titles = {
  'sign-in': 'Sign in',
  'sign-up': 'Create your account',
  'forgot-password': 'Forgot your password?',
  'new-password': 'Choose a new password',
};

/** The form in the URL: sign in, sign up, or get a new password. */
export function SignInCard() {
  const { referral_code: invitation, token = '', error, ...search } = useSearch({ from: '/' });
  const { form = invitation ? 'sign-up' : 'sign-in' } = search;
  const wanted = useLocation({ select: ({ state }) => state.next });
  const [next, setNext] = useState(wanted ?? '/dashboard');
  // Keep the last target, because the location loses it while navigating away.
  if (wanted && wanted !== next) setNext(wanted);
  const navigate = useNavigate();
  const { data } = useQuery(signInMethodsQuery);
  const providers = (data?.methods ?? []).filter((method) => method !== 'password');
  const enter = () => navigate({ href: next, replace: true });
  const { data: keyLost } = useQuery(keyLostQuery);
  usePageTitle(form === 'sign-in' ? null : titles[form]);
  useEffect(() => onSessionMessage(followSignIn), []);
  // Leave this page if the session has loaded with a user.
  const user = useSessionUser();
  const enterNow = useEffectEvent(() => void enter());
  useEffect(() => {
    if (user) enterNow();
  }, [user]);
  const card = useFocusOnChange(form);
  const isSentBack = useSentBack(card);

  if (keyLost) {
    return (
      <div className="card grid gap-4 px-6 py-7 sm:px-8">
        <h2 className="font-semibold text-lg tracking-tight">You need a new API key</h2>
        <KeyLostForm onDone={enter} />
      </div>
    );
  }
  return (
    <div ref={card} className="card px-6 py-7 sm:px-8">
      <h2 className="font-semibold text-lg tracking-tight">{titles[form]}</h2>
      <p className="mt-1 mb-6 text-muted">
        {form === 'sign-in' ? (
          <>
            New here? <FormLink form="sign-up">Create an account</FormLink>
          </>
        ) : (
          <>
            {form === 'sign-up' ? 'Already have an account?' : 'Remembered it?'} <FormLink>Sign in</FormLink>
          </>
        )}
      </p>
      <Remarks
        error={form === 'new-password' ? undefined : error}
        isSentBack={isSentBack && (form === 'sign-in' || form === 'sign-up')}
      />
      {form === 'sign-in' && (
        <>
          <SignInForm onDone={enter} />
          <p className="mt-4 text-center text-compact">
            <FormLink form="forgot-password">Forgot your password?</FormLink>
          </p>
        </>
      )}
      {form === 'sign-up' && invitation && <Invitation />}
      {form === 'sign-up' && <SignUpForm onDone={enter} />}
      {form === 'forgot-password' && <ForgotPasswordForm />}
      {form === 'new-password' && (error ? <SpentLink /> : <NewPassword token={token} />)}
      {(form === 'sign-in' || form === 'sign-up') && (
        <ProviderButtons providers={providers} returnTo={next} />
      )}
    </div>
  );
}

/** Another tab has signed in: read the shared session. */
function followSignIn({ type, userId }: SessionMessage): void {
  if (type !== 'signed-in' || userId === getCredentials()?.userId) return;
  // If that fails, the form stays.
  refreshSession().catch(() => undefined);
}

/** Explains why the card is shown again: a provider failed, or a page requires signing in. */
function Remarks({ error, isSentBack }: { error: string | undefined; isSentBack: boolean }) {
  return (
    <>
      {error && (
        <Callout tone="bad" title="You were not signed in" className="mb-4">
          {providerProblem(error)}
        </Callout>
      )}
      {isSentBack && (
        <Callout title="Sign in to continue" className="mb-4">
          The page you requested opens after you sign in.
        </Callout>
      )}
    </>
  );
}

function NewPassword({ token }: { token: string }) {
  const navigate = useNavigate();
  const [spent, setSpent] = useState(false);
  if (spent) return <SpentLink wasTried />;
  return (
    <NewPasswordForm
      token={token}
      onDone={() => navigate({ to: '/', replace: true })}
      onSpent={() => setSpent(true)}
    />
  );
}

/** Shown instead of the password form if the link was used before or has expired. */
function SpentLink({ wasTried = false }: { wasTried?: boolean }) {
  return (
    <Callout tone="bad" title="This link no longer works">
      Links work once and expire after an hour.{' '}
      {wasTried && 'If you have just changed your password with it, sign in with the new one. '}
      <FormLink form="forgot-password">Request a new link</FormLink>
    </Callout>
  );
}

/** The focused link unmounts with the old form, so focus the new form's first field. */
function useFocusOnChange(form: string) {
  const card = useRef<HTMLDivElement>(null);
  const shown = useRef(form);
  useEffect(() => {
    if (shown.current === form) return;
    shown.current = form;
    card.current?.querySelector('input')?.focus();
  }, [form]);
  return card;
}

/**
 * Returns true if a page that requires signing in redirected here. Focuses the form on each redirect, because
 * the form may be far above the clicked link.
 */
function useSentBack(card: RefObject<HTMLDivElement | null>): boolean {
  const place = useLocation({ select: ({ state }) => (state.next ? state.__TSR_key : undefined) });
  const form = useLocation({ select: ({ search }) => search.form });
  const [before] = useState(place);
  const [seen, setSeen] = useState({ place, form });
  const [isSentBack, setSentBack] = useState(
    useLocation({ select: ({ state }) => state.isSentBack === true }),
  );
  if (place !== seen.place) {
    // A link to another form is also a navigation, but not a redirect.
    if (place && form === seen.form) setSentBack(true);
    setSeen({ place, form });
  }
  useEffect(() => {
    if (place && (place !== before || isSentBack)) card.current?.querySelector('input')?.focus();
  }, [place, before, isSentBack, card]);
  return isSentBack;
}

/** A link to another form of the card that keeps the sign-in target. */
function FormLink({ form, children }: { form?: 'sign-up' | 'forgot-password'; children: string }) {
  return (
    <Link
      to="/"
      search={form ? { form } : {}}
      state={(state) => state}
      replace
      className="rounded font-medium text-accent-text underline underline-offset-2"
    >
      {children}
    </Link>
  );
}
