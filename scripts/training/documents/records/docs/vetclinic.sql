-- Schema of the practice database "pawprint", veterinary practice Ellerby Mill.
-- Version 12. Changes are made by migration files only, never by hand.

-- Owners of animals. One owner may have several animals.
CREATE TABLE owner (
  owner_id    integer PRIMARY KEY,
  surname     text NOT NULL,
  first_name  text,
  phone       text NOT NULL,          -- mobile number preferred, reminders go there
  email       text,
  postcode    text,
  balance     integer DEFAULT 0,      -- in pence, negative: the owner owes us
  blocked     boolean DEFAULT false   -- true: treated against cash only
);

-- Animals. Dead animals stay in the table, see died_on.
CREATE TABLE animal (
  animal_id   integer PRIMARY KEY,
  owner_id    integer NOT NULL REFERENCES owner,
  name        text NOT NULL,
  species     text NOT NULL CHECK (species IN ('dog','cat','rabbit','bird','horse','other')),
  breed       text,
  born_on     date,                   -- the first of the month if only the month is known
  sex         char(1),                -- m, f, or u for unknown; neutering is in its own column
  neutered_on date,
  chip_no     char(15) UNIQUE,        -- 15 digits, ISO 11784
  weight_g    integer,                -- last weight in grams, older ones are in table weighing
  temper      smallint,               -- 1 gentle to 5 bites; from 4 on two people are needed
  died_on     date
);

-- Every weighing, for the curve on the card.
CREATE TABLE weighing (
  animal_id   integer REFERENCES animal,
  at          timestamp NOT NULL,
  weight_g    integer NOT NULL,
  scale       text                    -- floor, table or kitchen (below 2 kg)
);

-- Staff. The code is printed on prescriptions.
CREATE TABLE staff (
  staff_code  char(3) PRIMARY KEY,
  name        text NOT NULL,
  role        text NOT NULL,          -- vet, nurse, desk, student
  reg_no      text,                   -- number in the register of vets; empty for others
  left_on     date
);

-- Appointments. A slot is ten minutes long.
CREATE TABLE appointment (
  appt_id     integer PRIMARY KEY,
  animal_id   integer REFERENCES animal,
  staff_code  char(3) REFERENCES staff,
  starts_at   timestamp NOT NULL,
  slots       smallint DEFAULT 2,     -- operations: at least 6
  room        text,                   -- 1, 2, X (x-ray), OP, or yard for horses
  reason      text,
  state       text DEFAULT 'booked'   -- booked, arrived, done, missed, cancelled
);
COMMENT ON COLUMN appointment.state IS 'After three missed appointments the owner has to pay in advance.';

-- Treatments. Written by the vet, cannot be changed after 24 hours (trigger treatment_freeze).
CREATE TABLE treatment (
  treat_id    integer PRIMARY KEY,
  appt_id     integer REFERENCES appointment,
  finding     text,
  diagnosis   text,                   -- code from the list VeNom
  advice      text,                   -- goes to the owner by mail
  fee_pence   integer NOT NULL,
  signed_by   char(3) REFERENCES staff
);

-- Drugs in the cupboard, one row for each batch.
CREATE TABLE drug_batch (
  batch_id    integer PRIMARY KEY,
  drug        text NOT NULL,
  batch_no    text NOT NULL,
  expires_on  date NOT NULL,          -- 30 days before it the batch turns yellow on the screen
  amount      numeric NOT NULL,
  unit        text NOT NULL,          -- ml, tablet, piece
  controlled  boolean DEFAULT false,  -- true: kept in the safe, two signatures
  shelf       text
);

-- What was given out of which batch.
CREATE TABLE dispensed (
  treat_id    integer REFERENCES treatment,
  batch_id    integer REFERENCES drug_batch,
  amount      numeric NOT NULL,
  withdrawal  integer                 -- days until milk or meat may be used, farm animals only
);

-- Vaccinations.
CREATE TABLE vaccination (
  animal_id   integer REFERENCES animal,
  vaccine     text NOT NULL,
  given_on    date NOT NULL,
  due_on      date,                   -- reminder goes out 21 days before
  batch_id    integer REFERENCES drug_batch,
  site        text                    -- left shoulder unless noted otherwise
);

-- Laboratory. Samples are fetched by the courier at 11 and 16.
CREATE TABLE lab_sample (
  sample_id   integer PRIMARY KEY,
  animal_id   integer REFERENCES animal,
  taken_at    timestamp NOT NULL,
  kind        text,                   -- blood, urine, swab, tissue
  lab         text DEFAULT 'Corvane', -- Corvane; tissue goes to the university
  result_at   timestamp,
  result      text
);

-- Invoices. Numbers have no gaps, the tax office checks that.
CREATE TABLE invoice (
  invoice_no  integer PRIMARY KEY,
  owner_id    integer REFERENCES owner,
  issued_on   date NOT NULL,
  total_pence integer NOT NULL,
  insurer     text,                   -- filled if the insurer pays directly
  paid_on     date,
  reminder    smallint DEFAULT 0      -- 0 to 3; at 3 the case goes to Hadley & Frome
);

-- Kennels in the ward.
CREATE TABLE kennel (
  kennel_no   smallint PRIMARY KEY,
  size        text,                   -- S, M, L
  isolation   boolean DEFAULT false,  -- kennels 11 and 12, own air supply
  heated      boolean DEFAULT false,
  animal_id   integer REFERENCES animal
);

-- Who looked at or changed what. Kept for 6 years.
CREATE TABLE audit (
  at          timestamp DEFAULT now(),
  staff_code  char(3),
  table_name  text,
  row_id      integer,
  action      char(1)                 -- r read, i insert, u update, d delete
);

CREATE INDEX animal_by_chip ON animal (chip_no);      -- for the scanner at the desk
CREATE INDEX appt_by_day ON appointment (starts_at);

-- Emptied every night at 02:30 by the job purge_drafts.
CREATE TABLE draft_letter (
  staff_code  char(3) REFERENCES staff,
  body        text,
  saved_at    timestamp DEFAULT now()
);

-- Read-only account for the accountant; sees invoice and owner, nothing medical.
CREATE ROLE ledger LOGIN;
GRANT SELECT ON invoice, owner TO ledger;
