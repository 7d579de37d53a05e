import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { Database, GraduationCap, ReceiptText, Rocket } from 'lucide-react';
import { useEffect, useEffectEvent, useRef } from 'react';
import { Logo } from '../../ui/logo.tsx';
import { signInMethodsQuery, useSessionUser } from './api.ts';
import { ForgotPasswordForm } from './forgot-password-form.tsx';
import { KeyLostForm } from './key-lost-form.tsx';
import { NewPasswordForm } from './new-password-form.tsx';
import { ProviderButtons } from './provider-buttons.tsx';
import { keyLostQuery } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';
import { SignUpForm } from './sign-up-form.tsx';

const strengths = [
  {
    icon: Database,
    title: 'Keep your data',
    text: 'Datasets and models with a preview of their rows and every file’s checksum.',
  },
  {
    icon: GraduationCap,
    title: 'Fine-tune on it',
    text: 'Real training with the price up front, live curves, and resuming from the last checkpoint.',
  },
  {
    icon: Rocket,
    title: 'Serve the result',
    text: 'An OpenAI-compatible address for each model, on a GPU or on this machine’s CPU.',
  },
  {
    icon: ReceiptText,
    title: 'Read the exact bill',
    text: 'Every credit is a double entry. Work that fails costs nothing.',
  },
];

const titles = {
  'sign-in': 'Sign in',
  'sign-up': 'Create your account',
  'forgot-password': 'Forgot your password?',
  'new-password': 'Choose a new password',
};

/** Where a visitor signs in or up; a signed-in person never sees it. */
export function LandingPage() {
  return (
    <main className="mx-auto grid min-h-dvh max-w-6xl content-center gap-x-20 gap-y-12 px-5 py-10 sm:px-8 lg:grid-cols-[1fr_25rem]">
      <div className="max-lg:order-2 lg:self-center">
        <div className="max-lg:hidden">
          <Logo />
        </div>
        <h1 className="mt-10 max-w-xl font-semibold text-3xl leading-tight tracking-tight max-lg:mt-0 sm:text-4xl">
          From your data to a served model, on machines that are yours
        </h1>
        <ul className="mt-10 grid gap-x-10 gap-y-7 sm:grid-cols-2">
          {strengths.map(({ icon: Icon, title, text }) => (
            <li key={title}>
              <Icon aria-hidden className="size-5 text-accent-text" />
              <h2 className="mt-2.5 font-semibold">{title}</h2>
              <p className="mt-1 text-muted">{text}</p>
            </li>
          ))}
        </ul>
      </div>
      <div className="lg:self-center">
        <div className="mb-8 lg:hidden">
          <Logo />
        </div>
        <AccountCard />
      </div>
    </main>
  );
}

function AccountCard() {
  const { form = 'sign-in', token = '' } = useSearch({ from: '/' });
  const next = useLocation({ select: ({ state }) => state.next }) ?? '/dashboard';
  const navigate = useNavigate();
  const { data } = useQuery(signInMethodsQuery);
  const providers = (data?.methods ?? []).filter((method) => method !== 'password');
  const enter = () => navigate({ href: next, replace: true });
  const { data: keyLost } = useQuery(keyLostQuery);
  useEffect(() => {
    document.title = form === 'sign-in' ? 'Bakehouse' : `${titles[form]} · Bakehouse`;
  }, [form]);
  // Somebody is signed in after all.
  const user = useSessionUser();
  const enterNow = useEffectEvent(() => void enter());
  useEffect(() => {
    if (user) enterNow();
  }, [user]);
  const card = useFocusOnChange(form);

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
      {form === 'sign-in' && (
        <>
          <SignInForm onDone={enter} />
          <p className="mt-4 text-center text-[0.8125rem]">
            <FormLink form="forgot-password">Forgot your password?</FormLink>
          </p>
        </>
      )}
      {form === 'sign-up' && <SignUpForm onDone={enter} />}
      {form === 'forgot-password' && <ForgotPasswordForm />}
      {form === 'new-password' && (
        <NewPasswordForm token={token} onDone={() => navigate({ to: '/', replace: true })} />
      )}
      {(form === 'sign-in' || form === 'sign-up') && (
        <ProviderButtons providers={providers} returnTo={next} />
      )}
    </div>
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
