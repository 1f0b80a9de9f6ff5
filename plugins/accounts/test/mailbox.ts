import { slowness } from 'civic/testing';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** An SMTP server that takes every mail. */
export interface Mailbox {
  url: string;
  mails: string[];
  /** The text of a mail to an address that holds a text; waits for it. */
  mailTo(address: string, text: string): Promise<string>;
  /** Postpones mails, as a server does that is overloaded, until it is called with false. */
  postpone(isPostponing: boolean): void;
  /** How many connections it postponed. */
  postponed(): number;
  close(): void;
}

const PATIENCE_MS = 20_000 * slowness;

export async function startMailbox(): Promise<Mailbox> {
  const mails: string[] = [];
  let isPostponing = false;
  let postponed = 0;
  const server = createServer((socket) => {
    let mail: string | null = null;
    const say = (line: string): void => { socket.write(`${line}\r\n`); };
    socket.on('error', () => undefined);
    if (isPostponing) {
      postponed++;
      socket.end('421 later\r\n');
      return;
    }
    say('220 ready');
    socket.on('data', (chunk) => {
      const text = String(chunk);
      if (mail !== null) {
        mail += text;
        if (!mail.endsWith('\r\n.\r\n')) return;
        mails.push(decoded(mail));
        mail = null;
        say('250 taken');
      } else if (/^DATA/i.test(text)) {
        mail = '';
        say('354 go on');
      } else if (/^QUIT/i.test(text)) socket.end('221 bye\r\n');
      else say('250 ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}/?ignoreTLS=true`,
    mails,
    async mailTo(address, text) {
      for (const end = performance.now() + PATIENCE_MS; performance.now() < end;) {
        const found = mails.find((mail) => mail.includes(`To: ${address}`) && mail.includes(text));
        if (found !== undefined) return found;
        await new Promise((done) => { setTimeout(done, 20); });
      }
      throw new Error(`No mail to ${address} with "${text}" among:\n${mails.join('\n---\n')}`);
    },
    postpone(next) { isPostponing = next; },
    postponed: () => postponed,
    close: () => { server.close(); },
  };
}

/** Undoes quoted-printable in the body and in encoded words of the headers, as far as ASCII and UTF-8 need it. Elsewhere in headers `=4F` is part of a URL. */
function decoded(mail: string): string {
  const end = mail.indexOf('\r\n\r\n');
  const head = mail.slice(0, end).replace(/=\?utf-8\?q\?[^?]*\?=/gi, plain);
  return Buffer.from(head + plain(mail.slice(end).replaceAll('=\r\n', '')), 'latin1').toString('utf8');
}

function plain(text: string): string {
  return text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
