import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { providerNames } from './provider-names.ts';
import { signInWith } from './sign-in-calls.ts';

/** Buttons for the configured providers; renders nothing if there are none. */
export function ProviderButtons({
  providers,
  returnTo,
}: {
  providers: ('github' | 'google')[];
  returnTo: string;
}) {
  const start = useMutation({
    mutationFn: (provider: 'github' | 'google') => signInWith(provider, returnTo),
  });
  if (providers.length === 0) return null;
  return (
    <>
      <p className="my-5 flex items-center gap-3 text-faint text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
      <div className="grid gap-2">
        {providers.map((provider) => (
          <Button
            key={provider}
            loading={start.isPending && start.variables === provider}
            onClick={() => start.mutate(provider)}
          >
            Continue with {providerNames[provider]}
          </Button>
        ))}
      </div>
    </>
  );
}
