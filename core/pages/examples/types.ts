/** A request that the API page prints as a shell command, which runs as printed. Texts may contain `$name`, a shell variable of `given` or `variables`. */
export interface Example {
  /** What it shows, where an operation has several examples. */
  title?: string;
  /** The values of path parameters. */
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  headers?: Record<string, string>;
  /** JSON, the fields of a form, or a text of another media type. */
  body?: unknown;
  /** The media type of the body, where the route accepts several. */
  type?: string;
  /** Shell variables with values of earlier requests, in order. */
  given?: Record<string, ExampleValue>;
  /** Shell variables that the reader sets first, each with a phrase that says what it is. */
  variables?: Record<string, string>;
  /** What else the command requires, as a sentence: "An open invitation to your account." */
  needs?: string;
  /** For a stream, which does not end: after how many seconds curl stops reading. */
  seconds?: number;
  /** Why the command succeeds only after a step outside the API, as a sentence. The test of examples does not run it. */
  manual?: string;
}

/** A value from a response. */
export interface ExampleValue {
  /** The operation whose first example is requested, such as `POST /api/entities`; or, as `$name`, an earlier variable that holds a response. */
  of: string;
  /** The jq filter that selects the value; `.id` when absent, `.` for the whole response. */
  take?: string;
  /** Replaces the body of the example of the operation. */
  body?: unknown;
  /** Added to the headers of the example of the operation. */
  headers?: Record<string, string>;
}

/** The examples of an operation. A function looks values up when the page is rendered; null when the instance has no data for an example. */
export type ExampleSource = Example | Example[] | (() => Promise<Example | Example[] | null>);

/** By operation, such as `GET /api/entities/{id}`. */
export type Examples = Record<string, ExampleSource>;
