import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react';
import { getCredentials } from '../../../lib/api/credentials.ts';
import { loadable } from '../../../lib/loadable.tsx';
import { onSessionMessage, type SessionMessage } from '../../../lib/session/session-channel.ts';
import { Boundary, EmptyFallback } from '../../../ui/boundary.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { keyLostQuery, refreshSession, useSessionUser } from '../session.ts';
import { KeyLostForm } from './key-lost-form.tsx';
import { ForgotPasswordForm } from './new-password/forgot-password-form.tsx';
import { NewPasswordForm } from './new-password/new-password-form.tsx';
import { ProviderButtons } from './provider-buttons.tsx';
import { providerProblem } from './provider-problem.ts';
import { signInMethodsQuery } from './sign-in-calls.ts';
import { SignInForm } from './sign-in-form.tsx';
import { SignUpForm } from './sign-up-form.tsx';

/** Only who comes by an invitation needs it. */
const Invitation = loadable(async () => (await import('./invitation.tsx')).Invitation);

const titles = {
  'sign-in': 'Sign in',
  'sign-up': 'Create your account',
  'forgot-password': 'Forgot your password?',
  'new-password': 'Choose a new password',
};

/** The form that the address names: to sign in, to sign up, or to come by a new password. */
export function SignInCard() {
  const { referral_code: invitation, token = '', error, ...search } = useSearch({ from: '/' });
  const { form = invitation ? 'sign-up' : 'sign-in' } = search;
  const wanted = useLocation({ select: ({ state }) => state.next });
  const [next, setNext] = useState(wanted ?? '/dashboard');
  // On the way out the address is already another one, which names no place to go: the last one stays.
  if (wanted && wanted !== next) setNext(wanted);
  const navigate = useNavigate();
  const { data } = useQuery(signInMethodsQuery);
  const providers = (data?.methods ?? []).filter((method) => method !== 'password');
  const enter = () => navigate({ href: next, replace: true });
  const { data: keyLost } = useQuery(keyLostQuery);
  useEffect(() => {
    document.title = form === 'sign-in' ? 'Bakehouse' : `${titles[form]} · Bakehouse`;
  }, [form]);
  useEffect(() => onSessionMessage(followSignIn), []);
  // Somebody is signed in after all.
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
          <p className="mt-4 text-center text-[0.8125rem]">
            <FormLink form="forgot-password">Forgot your password?</FormLink>
          </p>
        </>
      )}
      {form === 'sign-up' && invitation && <InvitationNote />}
      {form === 'sign-up' && <SignUpForm onDone={enter} />}
      {form === 'forgot-password' && <ForgotPasswordForm />}
      {form === 'new-password' && (error ? <SpentLink /> : <NewPassword token={token} />)}
      {(form === 'sign-in' || form === 'sign-up') && (
        <ProviderButtons providers={providers} returnTo={next} />
      )}
    </div>
  );
}

/** Another tab has signed in: this one reads the session that they share. */
function followSignIn({ type, userId }: SessionMessage): void {
  if (type !== 'signed-in' || userId === getCredentials()?.userId) return;
  // One that cannot be read now leaves the form as it is.
  refreshSession().catch(() => undefined);
}

/** Why the card is in sight again: a provider let nobody in, or a page wants its reader signed in. */
function Remarks({ error, isSentBack }: { error: string | undefined; isSentBack: boolean }) {
  return (
    <>
      {error && (
        <Callout tone="bad" title="You were not signed in" className="mb-4">
          {providerProblem(error)}
        </Callout>
      )}
      {isSentBack && (
        <Callout title="That page is for signed-in users" className="mb-4">
          It opens as soon as you have signed in.
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

/** In place of the form for a new password, where the link that led here was used before or is too old. */
function SpentLink({ wasTried = false }: { wasTried?: boolean }) {
  return (
    <Callout tone="bad" title="This link does not work any more">
      It works once, and for an hour.{' '}
      {wasTried && 'If you have just changed your password with it, sign in with the new one. '}
      <FormLink form="forgot-password">Request a new link</FormLink>
    </Callout>
  );
}

function InvitationNote() {
  return (
    <Boundary fallback={EmptyFallback}>
      <Suspense>
        <Invitation />
      </Suspense>
    </Boundary>
  );
}

/** The link that led to another form is gone with the old one: the focus goes to the new one's first field. */
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
 * Whether an address, or a link of the page in sight, led to where one has to be signed in, and so here. The focus goes to the
 * form each time, which may be far above the link.
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
    // A link to another form is a new place too, but leads nobody back.
    if (place && form === seen.form) setSentBack(true);
    setSeen({ place, form });
  }
  useEffect(() => {
    if (place && place !== before) card.current?.querySelector('input')?.focus();
  }, [place, before, card]);
  return isSentBack;
}

/** To another form of the card; where the person wanted to go is kept. */
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
