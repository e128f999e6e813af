-- The embedded job board: enough people, jobs and applications to look real. Every address lies under a domain reserved for
-- examples (RFC 2606). User 5 is sam, and application 3 is sam's at Acme: the one that "Send event" is about.
-- OR IGNORE: when applications were deleted by hand, the others may still be there.

INSERT OR IGNORE INTO jobs_company (id, name, created_at) VALUES
    (1, 'Acme', '2025-01-06 09:00:00.000000'),
    (2, 'Nordlicht Solar GmbH', '2025-01-06 09:12:40.000000'),
    (3, 'Café & Crème', '2025-01-07 14:30:11.000000'),
    (4, 'Kraków Data Works', '2025-01-09 08:05:59.000000'),
    (5, 'O''Neill Logistics', '2025-01-13 16:44:02.000000'),
    (6, 'Ρομποτική Αθηνών', '2025-01-15 02:20:30.000000');

INSERT OR IGNORE INTO jobs_job (id, company_id, title, description, created_at) VALUES
    (1, 1, 'Backend Engineer', 'Queues, databases, and the patience to find out which of them lost the message.', '2025-02-03 09:00:00.000000'),
    (2, 1, 'Product Designer', 'Draw the tools that our own people use all day.', '2025-02-03 09:20:00.000000'),
    (3, 1, 'Support Engineer (second line)', 'You read logs as others read novels.', '2025-02-10 10:00:00.000000'),
    (4, 2, 'Site Reliability Engineer (m/w/d)', 'Solar parks report every second. Keep it that way.', '2025-02-11 07:45:00.000000'),
    (5, 2, 'Buchhalter/-in in Teilzeit', 'Kreditoren, Debitoren, Monatsabschluss.', '2025-02-12 11:15:00.000000'),
    (6, 3, 'Head Barista', 'Two bars, nine people, one very old machine.', '2025-02-14 06:30:00.000000'),
    (7, 4, 'Data Analyst – Mobility', 'Trams, bicycles, scooters: who goes where, and why.', '2025-02-17 12:00:00.000000'),
    (8, 4, 'Junior Data Engineer', 'Pipelines, tests, and someone who explains them to you.', '2025-02-17 12:30:00.000000'),
    (9, 5, 'Fleet Planner', 'Two hundred lorries, eleven depots.', '2025-02-20 15:00:00.000000'),
    (10, 6, 'Μηχανικός λογισμικού ρομπότ', 'Γράφεις το λογισμικό που κάνει τα ρομπότ μας να περπατούν.', '2025-02-24 01:00:00.000000');

INSERT OR IGNORE INTO auth_user (id, password, last_login, is_superuser, username, last_name, email, is_staff, is_active, date_joined, first_name) VALUES
    (1, '!', NULL, 1, 'admin', '', 'admin@jobboard.example', 1, 1, '2025-01-06 08:00:00.000000', ''),
    (2, '!', '2025-03-03 18:20:09.120000', 0, 'zoe', 'Åström', 'zoe.astrom@example.com', 0, 1, '2025-02-04 10:11:12.000000', 'Zoë'),
    (3, '!', NULL, 0, 'jose', 'Núñez Íñigo', 'jose.nunez@example.org', 0, 1, '2025-02-04 17:02:45.000000', 'José'),
    (4, '!', '2025-03-01 07:58:30.500000', 0, 'amara', 'Okafor', 'amara.okafor@example.net', 0, 1, '2025-02-05 09:30:00.000000', 'Amara'),
    (5, '!', '2025-03-04 08:15:00.000000', 0, 'sam', 'Rivera', 'sam@example.com', 0, 1, '2025-02-05 12:00:00.000000', 'Sam'),
    (6, '!', NULL, 0, 'eleni', 'Παπαδοπούλου', 'eleni.papadopoulou@example.com', 0, 1, '2025-02-06 03:14:15.000000', 'Ελένη'),
    (7, '!', NULL, 0, 'lukasz', 'Wójcik', 'lukasz.wojcik@mail.example', 0, 1, '2025-02-07 20:40:00.000000', 'Łukasz'),
    (8, '!', '2025-03-02 21:05:44.000000', 0, 'olena', 'Шевченко', 'olena.shevchenko@example.org', 0, 1, '2025-02-08 13:37:00.000000', 'Олена'),
    (9, '!', NULL, 0, 'siobhan', 'O''Connor', 'siobhan.oconnor@example.net', 0, 1, '2025-02-11 08:00:00.000000', 'Siobhán'),
    (10, '!', NULL, 0, 'huong', 'Nguyễn', 'huong.nguyen@example.com', 0, 1, '2025-02-12 05:55:00.000000', 'Thị Hương'),
    (11, '!', '2025-02-28 16:00:00.000000', 0, 'yusuf', 'حداد', 'yusuf.haddad@mail.example', 0, 1, '2025-02-13 11:11:11.000000', 'يوسف'),
    (12, '!', NULL, 0, 'ayse', 'Yılmaz', 'ayse.yilmaz@example.org', 0, 1, '2025-02-15 19:23:00.000000', 'Ayşe'),
    (13, '!', NULL, 0, 'kwame', 'Mensah', 'kwame.mensah@example.com', 0, 1, '2025-02-18 10:45:00.000000', 'Kwame'),
    (14, '!', '2025-03-03 06:30:00.000000', 0, 'priya', 'Raman', 'priya.raman@example.net', 0, 1, '2025-02-21 14:00:00.000000', 'Priya'),
    (15, '!', NULL, 0, 'chloe', 'Lefèvre-Dubois', 'chloe.lefevre@example.com', 0, 1, '2025-02-25 09:09:09.000000', 'Chloé');

INSERT OR IGNORE INTO jobs_candidate (id, user_id, headline) VALUES
    (1, 2, 'Platform engineer, ten years of Python'),
    (2, 3, 'Diseñador de producto'),
    (3, 4, 'Analyst turned data engineer'),
    (4, 5, 'Backend developer who likes boring technology'),
    (5, 6, 'Συστήματα ελέγχου, C++, ROS'),
    (6, 7, 'Administrator systemów, nocny marek'),
    (7, 8, 'Data analyst, transport and maps'),
    (8, 9, 'Planner: ships first, lorries now'),
    (9, 10, 'Kỹ sư phần mềm'),
    (10, 11, 'Robotics and embedded systems'),
    (11, 12, 'Bookkeeper, part time'),
    (12, 13, 'Barista, roaster, trainer'),
    (13, 14, 'SRE 🚒'),
    (14, 15, 'Support, deuxième niveau');

INSERT OR IGNORE INTO jobs_application (id, job_id, candidate_id, status, cover_letter, created_at) VALUES
    (1, 1, 1, 'interview', 'I have run the queue you describe, and I still like queues.', '2025-02-10 10:00:00.000000'),
    (2, 2, 2, 'reviewing', 'Adjunto mi portafolio.', '2025-02-10 18:30:00.000000'),
    (3, 1, 4, 'reviewing', 'Your advert made me laugh, and then it made me think.', '2025-02-11 08:20:00.000000'),
    (4, 8, 3, 'offer', 'Three years of analysis taught me what engineers should have done.', '2025-02-18 09:00:00.000000'),
    (5, 10, 5, 'interview', 'Πέντε χρόνια στον έλεγχο δίποδων ρομπότ.', '2025-02-24 04:00:00.000000'),
    (6, 4, 6, 'submitted', 'Nights are fine.', '2025-02-24 23:50:00.000000'),
    (7, 7, 7, 'interview', 'I made the night-tram map of Lviv.', '2025-02-19 12:00:00.000000'),
    (8, 9, 8, 'reviewing', 'Lorries are ships with fewer excuses.', '2025-02-22 15:10:00.000000'),
    (9, 1, 9, 'rejected', 'Please find my CV attached.', '2025-02-14 03:00:00.000000'),
    (10, 10, 10, 'submitted', 'I would move.', '2025-02-26 10:10:00.000000'),
    (11, 5, 11, 'offer', 'Zwei Vormittage in der Woche, gern auch drei.', '2025-02-17 20:00:00.000000'),
    (12, 6, 12, 'hired', 'I know that machine. I have repaired it twice.', '2025-02-18 11:00:00.000000'),
    (13, 4, 13, 'reviewing', 'Pager is charged.', '2025-02-23 07:07:00.000000'),
    (14, 3, 14, 'interview', 'Bonjour, and hello.', '2025-02-26 09:30:00.000000'),
    (15, 4, 1, 'withdrawn', 'Also interested in solar.', '2025-02-12 10:00:00.000000'),
    (16, 8, 4, 'submitted', 'Happy to start as a junior in data.', '2025-02-20 21:00:00.000000'),
    (17, 3, 4, 'reviewing', 'I read logs too.', '2025-02-21 21:00:00.000000'),
    (18, 7, 3, 'rejected', 'Mobility is what I did my thesis on.', '2025-02-19 08:00:00.000000'),
    (19, 1, 13, 'interview', 'Backend is where the pages come from.', '2025-02-24 06:15:00.000000'),
    (20, 8, 9, 'reviewing', 'Tôi học nhanh.', '2025-02-25 04:44:00.000000'),
    (21, 2, 14, 'submitted', 'Design with a support background.', '2025-02-27 13:00:00.000000'),
    (22, 9, 6, 'rejected', 'Depots at night.', '2025-02-25 22:00:00.000000'),
    (23, 4, 10, 'submitted', 'Embedded meters, solar inverters.', '2025-02-28 12:12:00.000000'),
    (24, 7, 8, 'interview', 'Who goes where, and why: I have planned it.', '2025-03-01 09:00:00.000000'),
    (25, 3, 11, 'submitted', 'Afternoons.', '2025-03-03 17:45:00.000000');
