import { Link, useSearch } from '@tanstack/react-router';
import { lazy } from 'react';
import { EmptyFallback, LazyPart } from '../../../ui/boundary.tsx';
import { Logo } from '../../../ui/logo.tsx';
import { SignInCard } from '../../accounts/sign-in/sign-in-card.tsx';
import { DocumentationLink } from './documentation-link.tsx';
import { TryPanel } from './try/try-panel.tsx';

/** Below the first screen, so it does not delay it. */
const Showcase = lazy(async () => ({ default: (await import('./showcase.tsx')).Showcase }));

/** The public start page: the product, pictures of it, and the sign-in form. */
export function LandingPage() {
  const { referral_code: invitation } = useSearch({ from: '/' });
  return (
    <div className="mx-auto max-w-304 px-5 sm:px-8">
      <header className="flex h-16 items-center justify-between gap-4">
        <Logo />
        <nav aria-label="Main" className="flex items-center gap-5 font-medium text-muted">
          <a href="#generators" className="rounded hover:text-ink max-sm:hidden">
            Generators
          </a>
          <DocumentationLink className="rounded hover:text-ink" />
          {/* Another form may be open. */}
          <Link
            to="/"
            hash="sign-in"
            search={({ form: _, ...rest }) => rest}
            className="rounded text-ink lg:hidden"
          >
            Sign in
          </Link>
        </nav>
      </header>
      <main>
        <div className="grid items-start gap-x-14 gap-y-10 pt-6 lg:grid-cols-[minmax(0,1fr)_23rem] lg:grid-rows-[auto_1fr] lg:pt-12">
          <div>
            {/* On wide screens the form with the invitation is already visible. */}
            {invitation && (
              <p className="mb-5 rounded-xl bg-accent-soft px-4 py-3 text-accent-text lg:hidden">
                A friend invited you.{' '}
                <a href="#sign-in" className="rounded font-medium underline underline-offset-2">
                  Create an account
                </a>
              </p>
            )}
            <h1 className="max-w-2xl font-semibold text-3xl leading-display tracking-tight sm:text-display">
              From your data to a served model, on your own machines
            </h1>
            <p className="mt-4 max-w-xl text-lead text-muted leading-6 sm:text-base">
              Datasets, fine-tuning, chat, pictures and videos, paid from one balance. Start on a laptop,
              scale to your GPUs.
            </p>
          </div>
          <TryPanel />
          <div id="sign-in" className="scroll-mt-6 lg:col-start-2 lg:row-span-2 lg:row-start-1">
            <SignInCard />
          </div>
        </div>
        <LazyPart fallback={EmptyFallback}>
          <Showcase />
        </LazyPart>
      </main>
    </div>
  );
}
