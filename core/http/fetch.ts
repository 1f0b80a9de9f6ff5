export interface FetchOptions {
  method?: 'GET' | 'HEAD' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
  timeout_seconds?: number;
  max_bytes?: number;
  max_redirects?: number;
}

export interface FetchResponse {
  status: number;
  headers: Record<string, string>;
  /** The address that answered, after redirects. */
  url: string;
  redirected: boolean;
  body: Uint8Array;
  text(): string;
  json(): unknown;
}

export type Fetch = (url: string, options?: FetchOptions) => Promise<FetchResponse>;
