import { Missing } from '../../ui/missing.tsx';

/** For every address that is no page. */
export function NotFoundPage() {
  return (
    <Missing
      title="There is no page here"
      text="The address may be mistyped, or what it named has been deleted."
      to="/dashboard"
      label="Go to the dashboard"
    />
  );
}
