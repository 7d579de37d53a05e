type Navigate = (path: string) => void;

let navigate: Navigate = (path) => location.assign(path);

/** Set by `main.tsx`, so that code outside of components can navigate without importing the routes. */
export function setNavigate(fn: Navigate): void {
  navigate = fn;
}

/** Navigates to a path of this app. */
export function goTo(path: string): void {
  navigate(path);
}
