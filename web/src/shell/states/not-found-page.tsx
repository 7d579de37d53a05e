import { Missing } from '../../ui/missing.tsx';

/** For every address that is no page. */
export function NotFoundPage() {
  return (
    <Missing
      title="Page not found"
      text="The address may be mistyped, or the page may have been deleted."
      to="/dashboard"
      label="Go to the dashboard"
    />
  );
}
